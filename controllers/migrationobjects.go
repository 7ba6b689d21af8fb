package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

// path returns the path of a migration; sub is a subresource.
func (c *migrator) path(sub, name string) loopback.Path {
	r := c.statuses.API.Types().Lookup(storagemigrationv1.GroupName, "v1", "storageversionmigrations")
	return loopback.Path{Resource: r, Subresource: sub, Name: name}
}

func (c *migrator) definitionPath(sub string, r groupResource) loopback.Path {
	of := workload.CustomResourceDefinitions
	return loopback.Path{Resource: c.statuses.API.Types().Lookup(of.Group, of.Version, of.Plural), Subresource: sub,
		Name: r.Resource + "." + r.Group}
}

// follow sends the resources of all migrations, and then each resource whose migrations or definition change. It
// ignores migrations that can't be decoded.
func (c *migrator) follow(ctx context.Context, sink func(groupResource)) error {
	collection := c.path("", "").Resource.Collection
	definitions := c.definitionPath("", groupResource{}).Resource.Collection
	var known migrationResources
	note := func(o *loopback.Object) {
		if one, err := loopback.Typed[migration](o, o.Err); err == nil {
			known[one.Name] = one.Spec.Resource
			sink(one.Spec.Resource)
		}
	}
	return loopback.Feed{Cache: c.statuses.Cache, First: collection, Collections: []string{collection, definitions},
		Begin: func(state iter.Seq[*loopback.Object]) {
			known = migrationResources{}
			for o := range state {
				note(o)
			}
		},
		Each: func(e *loopback.Event) error {
			if e.Collection == definitions {
				if r, ok := known.defined(e.Object.Meta.Name); ok {
					sink(r)
				}
				return nil
			}
			note(e.Object)
			if e.Type == loopback.Deleted {
				delete(known, e.Object.Meta.Name)
			}
			return nil
		},
	}.Follow(ctx)
}

// migrationResources has the resources of migrations by the migrations' names.
type migrationResources map[string]groupResource

// defined returns the resource of a definition; false if it has no migration. Other definitions, which change often,
// cause no pass, as each pass reads all migrations.
func (n migrationResources) defined(definition string) (r groupResource, ok bool) {
	plural, group, ok := strings.Cut(definition, ".")
	r = groupResource{Group: group, Resource: plural}
	return r, ok && slices.Contains(slices.Collect(maps.Values(n)), r)
}

// migrations returns the migrations of a resource by a consistent read.
func (c *migrator) migrations(ctx context.Context, r groupResource) ([]*migration, error) {
	objects, err := c.statuses.API.List(ctx, c.path("", ""))
	if err != nil {
		return nil, err
	}
	var all []*migration
	for _, o := range objects {
		if one, err := loopback.Typed[migration](o, o.Err); err == nil && one.Spec.Resource == r {
			all = append(all, one)
		}
	}
	return all, nil
}

// write updates the status of a migration, and returns the migration as it is stored; Conflict if its resourceVersion
// is stale.
func (c *migrator) write(ctx context.Context, one *migration) (*migration, error) {
	doc, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": one.UID, "resourceVersion": one.ResourceVersion}, "status": one.Status,
	})
	if err != nil {
		return nil, err
	}
	next, err := loopback.Typed[migration](
		c.statuses.API.Patch(ctx, c.path("status", one.Name), types.MergePatchType, doc))
	if err != nil {
		return nil, fmt.Errorf("updating the status of %s: %w", one.Name, err)
	}
	return next, nil
}

// served returns the entry of the version of a resource that discovery prefers; nil if there is none.
func (c *migrator) served(r groupResource) *loopback.Type {
	all := c.statuses.API.Types().All()
	i := slices.IndexFunc(all, func(e *loopback.Type) bool { return e.Group == r.Group && e.Plural == r.Resource })
	if i < 0 {
		return nil
	}
	return all[i]
}

// entry returns the same as served, or an error if the resource is not served.
func (c *migrator) entry(r groupResource) (*loopback.Type, error) {
	if e := c.served(r); e != nil {
		return e, nil
	}
	return nil, apierrors.NewServiceUnavailable(r.String() + " is no longer served")
}

// list returns the objects of a resource by a consistent read.
func (c *migrator) list(ctx context.Context, r groupResource) ([]*loopback.Object, error) {
	e, err := c.entry(r)
	if err != nil {
		return nil, err
	}
	return c.objects.API.List(ctx, loopback.Path{Resource: e})
}

// rewrite patches an object without a change; Conflict if it has been written since.
func (c *migrator) rewrite(ctx context.Context, r groupResource, o *loopback.Object) error {
	e, err := c.entry(r)
	if err != nil {
		return err
	}
	doc := fmt.Appendf(nil, `{"metadata":{"resourceVersion":"%d"}}`, o.Revision)
	_, err = c.objects.API.Patch(ctx, loopback.Path{Resource: e, Namespace: o.Meta.Namespace, Name: o.Meta.Name},
		types.MergePatchType, doc)
	return err
}

// definition returns the definition of a custom resource by a consistent read; nil if there is none.
func (c *migrator) definition(ctx context.Context, r groupResource) (*definition, error) {
	o, err := c.definitions.API.Get(ctx, c.definitionPath("", r))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return loopback.Typed[definition](o, err)
}

// mark applies a condition and the stored versions to the status of a definition; Conflict if its resourceVersion is
// stale.
func (c *migrator) mark(
	ctx context.Context, d *definition, condition apiextensionsv1.CustomResourceDefinitionCondition, stored []string,
) error {
	document, err := json.Marshal(map[string]any{
		"apiVersion": apiextensionsv1.SchemeGroupVersion.String(), "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": d.Name, "uid": d.UID, "resourceVersion": d.ResourceVersion},
		"status": map[string]any{
			"conditions": []apiextensionsv1.CustomResourceDefinitionCondition{condition}, "storedVersions": stored,
		},
	})
	if err == nil {
		r := groupResource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural}
		_, err = c.definitions.API.Apply(ctx, c.definitionPath("status", r), document)
	}
	return err
}
