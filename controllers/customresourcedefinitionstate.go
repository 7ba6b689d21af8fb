package controllers

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/loopback"
)

// knownDefinition is a CRD as it was last decoded.
type knownDefinition struct {
	revision   int64
	definition *definition
}

func (c *CustomResourceDefinitions) resource() *loopback.Type {
	return c.client.API.Types().Lookup(apiextensionsv1.GroupName, "v1", "customresourcedefinitions")
}

// follow sends the name of every CRD, and then the names of CRDs that may need a pass: a changed CRD, the others of the
// group of a changed or deleted CRD, and a CRD that is being deleted after the deletion of one of its objects.
func (c *CustomResourceDefinitions) follow(ctx context.Context, sink func(name string)) error {
	collection := c.resource().Collection
	var deleting map[string]bool
	return loopback.Feed{Cache: c.client.Cache, First: collection,
		Begin: func(state iter.Seq[*loopback.Object]) {
			deleting = map[string]bool{}
			for o := range state {
				if o.Meta.Deleting() {
					deleting[o.Meta.Name] = true
				}
				sink(o.Meta.Name)
			}
		},
		Each: func(e *loopback.Event) error {
			name := e.Object.Meta.Name
			switch {
			case e.Collection == collection:
				delete(deleting, name)
				if e.Type != loopback.Deleted && e.Object.Meta.Deleting() {
					deleting[name] = true
				}
				return c.group(name, collection, sink)
			case e.Type == loopback.Deleted && len(deleting) > 0:
				if name := instancesOf(e.Collection); deleting[name] {
					sink(name)
				}
			}
			return nil
		},
	}.Follow(ctx)
}

// instancesOf returns the name of the CRD whose objects are in the collection, whether or not its versions are served;
// empty for collections of built-in types.
func instancesOf(collection string) string {
	group, plural, custom := strings.Cut(collection, "/")
	if !custom {
		return ""
	}
	return plural + "." + group
}

// group sends a CRD that changed, and the CRDs of its group that wait for a name, as it may have released one.
func (c *CustomResourceDefinitions) group(name, collection string, sink func(name string)) error {
	sink(name)
	_, group, _ := strings.Cut(name, ".")
	snap, err := c.client.Cache.Snapshot(collection, 0)
	if err != nil {
		return err
	}
	for o := range snap.Ascend("", "") {
		if _, g, _ := strings.Cut(o.Meta.Name, "."); g != group || o.Meta.Name == name {
			continue
		}
		if other, err := c.decode(o); err == nil && !apihelpers.IsCRDConditionTrue(other, apiextensionsv1.NamesAccepted) {
			sink(o.Meta.Name)
		}
	}
	return nil
}

// list returns all CRDs, without their schemas; they must not be changed. It omits CRDs that can't be decoded. The
// controller's own writes are in the cache when they return, and it gets events for the writes of others, so no read
// of etcd is necessary.
func (c *CustomResourceDefinitions) list() ([]*definition, error) {
	snap, err := c.client.Cache.Snapshot(c.resource().Collection, 0)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	var all []*definition
	for o := range snap.Ascend("", "") {
		there[o.Key] = true
		if one, err := c.decode(o); err == nil {
			all = append(all, one)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.known, func(key string, _ knownDefinition) bool { return !there[key] })
	return all, nil
}

// decode returns the CRD without its schemas, which must not be changed.
func (c *CustomResourceDefinitions) decode(o *loopback.Object) (*definition, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.known[o.Key]; k.revision == o.Revision && k.definition != nil {
		return k.definition, nil
	}
	if o.Err != nil {
		return nil, o.Err
	}
	one, err := customresource.Outline(o.JSON)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", o.Key, err)
	}
	one.ResourceVersion = strconv.FormatInt(o.Revision, 10)
	c.known[o.Key] = knownDefinition{o.Revision, one}
	return one, nil
}

// whole returns the CRD with its schemas.
func (c *CustomResourceDefinitions) whole(one *definition) (*definition, error) {
	r := c.resource()
	o, _ := c.client.Cache.Get(c.client.API.Key(r, "", one.Name))
	if o == nil || o.Meta.UID != string(one.UID) {
		return nil, apierrors.NewNotFound(r.GroupResource(), one.Name)
	}
	if o.Err != nil {
		return nil, o.Err
	}
	obj, err := r.Decode(o.JSON)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", o.Key, err)
	}
	return obj.(*definition), nil
}

// evaluate returns the CRD with the names and conditions that it should have among the others, nil if it has them
// already.
func (c *CustomResourceDefinitions) evaluate(
	one *definition, all []*definition,
	now metav1.Time,
) *definition {
	if !customresource.Structural(one) {
		if whole, err := c.whole(one); err == nil && whole.ResourceVersion == one.ResourceVersion {
			one = whole
		}
	}
	return customresource.Decide(one, all, now)
}

// updateStatus stores status and finalizers; Conflict if the CRD has changed in the meantime.
func (c *CustomResourceDefinitions) updateStatus(ctx context.Context, one *definition) (*definition, error) {
	r := c.resource()
	o, err := c.client.API.Change(ctx, loopback.Path{
		Resource: r, Subresource: "status", Name: one.Name,
	}, func(old runtime.Object) (runtime.Object, error) {
		next, ok := old.(*definition)
		if !ok || next.ResourceVersion != one.ResourceVersion {
			return nil, apierrors.NewConflict(r.GroupResource(), one.Name, errDefinitionChanged)
		}
		next.Status, next.Finalizers = *one.Status.DeepCopy(), one.Finalizers
		return next, nil
	})
	if err != nil {
		return nil, err
	}
	return c.decode(o)
}

// errDefinitionChanged is the reason why a status for an older state isn't stored.
var errDefinitionChanged = errors.New("the CustomResourceDefinition has changed")

// instances returns the entry of the CRD's custom resource.
func (c *CustomResourceDefinitions) instances(one *definition) (*loopback.Type, error) {
	for _, v := range one.Spec.Versions {
		if r := c.client.API.Types().Lookup(one.Spec.Group, v.Name, one.Spec.Names.Plural); v.Storage && r != nil &&
			r.Origin == string(one.UID) {
			return r, nil
		}
	}
	whole, err := c.whole(one)
	if err != nil {
		return nil, err
	}
	if r := customresource.Stored(whole, c.webhooks); r != nil {
		return r, nil
	}
	return nil, apierrors.NewNotFound(apiextensionsv1.Resource("customresourcedefinitions"), one.Name)
}

// overlaps reports whether the CRD's objects would have the storage keys of built-in ones.
func (c *CustomResourceDefinitions) overlaps(one *definition) bool {
	r := c.client.API.Types().Collection(one.Spec.Group + "/" + one.Spec.Names.Plural)
	return r != nil && !r.Custom
}

// namespaces returns the namespaces with objects of the CRD, each once; the empty name is that of cluster-scoped
// objects.
func (c *CustomResourceDefinitions) namespaces(ctx context.Context, one *definition) ([]string, error) {
	r, err := c.instances(one)
	if err != nil {
		return nil, err
	}
	objs, err := c.client.API.List(ctx, loopback.Path{Resource: r})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range objs {
		names = append(names, o.Meta.Namespace)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (c *CustomResourceDefinitions) deleteAll(ctx context.Context, one *definition, namespace string) error {
	r, err := c.instances(one)
	if err != nil {
		return err
	}
	api := c.client.API.Because(trail.CustomResourceDefinitionDeleted, []trail.Object{{
		APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition", Name: one.Name,
		UID: string(one.UID),
	}})
	return api.DeleteCollection(ctx, loopback.Path{Resource: r, Namespace: namespace}, &metav1.DeleteOptions{})
}
