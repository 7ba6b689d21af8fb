package loopback

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/migration"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Migrations is migration.API.
type Migrations struct {
	// API writes the status of migrations, Objects as migration.Manager, Definitions as migration.DefinitionManager.
	API, Objects, Definitions *registry.Loopback
	Cache                     *cache.Cache
}

// customResourceDefinitions is their collection.
const customResourceDefinitions = apiextensionsv1.GroupName + "/customresourcedefinitions"

func (m *Migrations) path(sub, name string) registry.Path {
	return registry.Path{Resource: m.API.Types().Lookup(storagemigrationv1.GroupName, "v1", "storageversionmigrations"),
		Subresource: sub, Name: name}
}

func (m *Migrations) definition(sub string, r migration.Resource) registry.Path {
	return registry.Path{Resource: m.API.Types().Lookup(apiextensionsv1.GroupName, "v1", "customresourcedefinitions"),
		Subresource: sub, Name: r.Resource + "." + r.Group}
}

// Follow implements migration.API. Of one that can't be decoded nothing is known.
func (m *Migrations) Follow(ctx context.Context, sink func(migration.Resource)) error {
	collection := m.path("", "").Resource.Collection
	var about map[string]migration.Resource
	note := func(o *storage.Object) {
		if one, err := Typed[migration.Migration](o, o.Err); err == nil {
			about[o.Meta.Name] = one.Spec.Resource
			sink(one.Spec.Resource)
		}
	}
	return Feed{Cache: m.Cache, First: collection, Collections: []string{collection, customResourceDefinitions},
		Begin: func(state iter.Seq[*storage.Object]) {
			about = map[string]migration.Resource{}
			for o := range state {
				note(o)
			}
		},
		Each: func(e *cache.Event) error {
			name := e.Object.Meta.Name
			switch {
			case e.Collection == collection && e.Type != cache.Deleted:
				note(e.Object)
			case e.Collection == collection:
				if r, ok := about[name]; ok {
					delete(about, name)
					sink(r)
				}
			default:
				all := slices.Collect(maps.Values(about))
				if i := slices.IndexFunc(all, func(r migration.Resource) bool { return r.Resource+"."+r.Group == name }); i >= 0 {
					sink(all[i])
				}
			}
			return nil
		},
	}.Follow(ctx)
}

// Migrations implements migration.API.
func (m *Migrations) Migrations(ctx context.Context, r migration.Resource) ([]*migration.Migration, error) {
	objects, err := m.API.List(ctx, m.path("", ""))
	if err != nil {
		return nil, err
	}
	var all []*migration.Migration
	for _, o := range objects {
		if one, err := Typed[migration.Migration](o, o.Err); err == nil && one.Spec.Resource == r {
			all = append(all, one)
		}
	}
	return all, nil
}

// UpdateStatus implements migration.API.
func (m *Migrations) UpdateStatus(ctx context.Context, one *migration.Migration) (*migration.Migration, error) {
	doc, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": one.UID, "resourceVersion": one.ResourceVersion}, "status": one.Status,
	})
	if err != nil {
		return nil, err
	}
	return Typed[migration.Migration](m.API.Patch(ctx, m.path("status", one.Name), types.MergePatchType, doc))
}

// served returns the entry of the version of a resource that discovery prefers; nil if there is none.
func (m *Migrations) served(r migration.Resource) *resources.Resource {
	all := m.API.Types().All()
	i := slices.IndexFunc(all, func(e *resources.Resource) bool { return e.Group == r.Group && e.Plural == r.Resource })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Target implements migration.API.
func (m *Migrations) Target(r migration.Resource) migration.Target {
	e := m.served(r)
	switch {
	case e == nil:
		return migration.Unserved
	case e.Collection == "", !e.Has("list"), !e.Has("update"), !e.Has("patch"):
		return migration.Fixed
	}
	return migration.Migratable
}

// Revision implements migration.API.
func (m *Migrations) Revision(ctx context.Context) (string, error) {
	if err := m.API.Fresh(ctx); err != nil {
		return "", err
	}
	return strconv.FormatInt(m.Cache.Revision(), 10), nil
}

// entry is served for a resource that must be.
func (m *Migrations) entry(r migration.Resource) (*resources.Resource, error) {
	if e := m.served(r); e != nil {
		return e, nil
	}
	return nil, apierrors.NewServiceUnavailable(r.String() + " is no longer served")
}

// Items implements migration.API.
func (m *Migrations) Items(ctx context.Context, r migration.Resource) ([]migration.Item, error) {
	e, err := m.entry(r)
	if err != nil {
		return nil, err
	}
	objects, err := m.Objects.List(ctx, registry.Path{Resource: e})
	items := make([]migration.Item, len(objects))
	for i, o := range objects {
		items[i] = migration.Item{Namespace: o.Meta.Namespace, Name: o.Meta.Name,
			ResourceVersion: strconv.FormatInt(o.Revision, 10)}
	}
	return items, err
}

// Rewrite implements migration.API.
func (m *Migrations) Rewrite(ctx context.Context, r migration.Resource, i migration.Item) error {
	e, err := m.entry(r)
	if err != nil {
		return err
	}
	doc, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": i.ResourceVersion}})
	if err == nil {
		_, err = m.Objects.Patch(ctx, registry.Path{Resource: e, Namespace: i.Namespace, Name: i.Name},
			types.MergePatchType, doc)
	}
	return err
}

// Definition implements migration.API.
func (m *Migrations) Definition(ctx context.Context, r migration.Resource) (*migration.Definition, error) {
	o, err := m.Definitions.Get(ctx, m.definition("", r))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return Typed[migration.Definition](o, err)
}

// Mark implements migration.API.
func (m *Migrations) Mark(
	ctx context.Context, d *migration.Definition, c apiextensionsv1.CustomResourceDefinitionCondition, stored []string,
) error {
	document, err := json.Marshal(map[string]any{
		"apiVersion": apiextensionsv1.SchemeGroupVersion.String(), "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": d.Name, "uid": d.UID, "resourceVersion": d.ResourceVersion},
		"status": map[string]any{
			"conditions": []apiextensionsv1.CustomResourceDefinitionCondition{c}, "storedVersions": stored,
		},
	})
	if err == nil {
		r := migration.Resource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural}
		_, err = m.Definitions.Apply(ctx, m.definition("status", r), document)
	}
	return err
}
