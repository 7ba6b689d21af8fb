package loopback

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/trail"
)

// CRDs is crd.API.
type CRDs struct {
	API   *registry.Loopback
	Cache *cache.Cache
	// Webhooks call the conversion webhooks of CustomResourceDefinitions.
	Webhooks *webhook.Clients

	// mu guards known: the CRDs by key, as they were last decoded.
	mu    sync.Mutex
	known map[string]known
}

type known struct {
	revision   int64
	definition *apiextensionsv1.CustomResourceDefinition
}

func (d *CRDs) resource() *resources.Resource {
	return d.API.Types().Lookup(apiextensionsv1.GroupName, "v1", "customresourcedefinitions")
}

// Follow implements crd.API with the timeline of all collections while a CRD is being deleted.
func (d *CRDs) Follow(ctx context.Context, sink func(name string)) error {
	collection := d.resource().Collection
	var deleting map[string]bool
	return feed{cache: d.Cache, first: collection,
		quiet: func() bool { return len(deleting) == 0 },
		begin: func(state iter.Seq[*storage.Object]) {
			deleting = map[string]bool{}
			for o := range state {
				if o.Meta.Deleting() {
					deleting[o.Meta.Name] = true
				}
				sink(o.Meta.Name)
			}
		},
		each: func(e *cache.Event) error {
			name := e.Object.Meta.Name
			switch {
			case e.Collection == collection:
				delete(deleting, name)
				if e.Type != cache.Deleted && e.Object.Meta.Deleting() {
					deleting[name] = true
				}
				return d.group(name, collection, sink)
			case e.Type == cache.Deleted:
				if name := instancesOf(e.Collection); deleting[name] {
					sink(name)
				}
			}
			return nil
		},
	}.follow(ctx)
}

// instancesOf is the name of the CRD whose objects are in the collection, whether or not its versions are served; empty
// for collections of built-in types.
func instancesOf(collection string) string {
	group, plural, custom := strings.Cut(collection, "/")
	if !custom {
		return ""
	}
	return plural + "." + group
}

// group sends a CRD that changed, and those of its group that wait for a name, which it may have released.
func (d *CRDs) group(name, collection string, sink func(name string)) error {
	sink(name)
	_, group, _ := strings.Cut(name, ".")
	snap, err := d.Cache.Snapshot(collection, 0)
	if err != nil {
		return err
	}
	snap.Ascend("", "", func(o *storage.Object) bool {
		if _, g, _ := strings.Cut(o.Meta.Name, "."); g != group || o.Meta.Name == name {
			return true
		}
		if other, err := d.decode(o); err == nil && !customresource.True(other, apiextensionsv1.NamesAccepted) {
			sink(o.Meta.Name)
		}
		return true
	})
	return nil
}

// List implements crd.API. It omits CRDs that can't be decoded. The controller's own writes are in the cache
// when they return, and it gets events for the writes of others, so no read of etcd is necessary.
func (d *CRDs) List(context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	snap, err := d.Cache.Snapshot(d.resource().Collection, 0)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	var all []*apiextensionsv1.CustomResourceDefinition
	snap.Ascend("", "", func(o *storage.Object) bool {
		there[o.Key] = true
		if one, err := d.decode(o); err == nil {
			all = append(all, one)
		}
		return true
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.known, func(key string, _ known) bool { return !there[key] })
	return all, nil
}

// decode returns the CRD without its schemas, which must not be changed.
func (d *CRDs) decode(o *storage.Object) (*apiextensionsv1.CustomResourceDefinition, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.known[o.Key]; k.revision == o.Revision && k.definition != nil {
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
	if d.known == nil {
		d.known = map[string]known{}
	}
	d.known[o.Key] = known{o.Revision, one}
	return one, nil
}

// whole returns the CRD with its schemas.
func (d *CRDs) whole(
	one *apiextensionsv1.CustomResourceDefinition,
) (*apiextensionsv1.CustomResourceDefinition, error) {
	r := d.resource()
	o, _ := d.Cache.Get(d.API.Key(r, "", one.Name))
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
	return obj.(*apiextensionsv1.CustomResourceDefinition), nil
}

// Evaluate implements crd.API.
func (d *CRDs) Evaluate(
	one *apiextensionsv1.CustomResourceDefinition, all []*apiextensionsv1.CustomResourceDefinition,
	now metav1.Time,
) *apiextensionsv1.CustomResourceDefinition {
	if !customresource.Structural(one) {
		if whole, err := d.whole(one); err == nil && whole.ResourceVersion == one.ResourceVersion {
			one = whole
		}
	}
	return customresource.Decide(one, all, now)
}

// UpdateStatus implements crd.API.
func (d *CRDs) UpdateStatus(
	ctx context.Context, one *apiextensionsv1.CustomResourceDefinition,
) (*apiextensionsv1.CustomResourceDefinition, error) {
	r := d.resource()
	o, err := d.API.Change(ctx, registry.Path{
		Resource: r, Subresource: "status", Name: one.Name,
	}, func(old runtime.Object) (runtime.Object, error) {
		next, ok := old.(*apiextensionsv1.CustomResourceDefinition)
		if !ok || next.ResourceVersion != one.ResourceVersion {
			return nil, apierrors.NewConflict(r.GroupResource(), one.Name, errChanged)
		}
		next.Status, next.Finalizers = *one.Status.DeepCopy(), one.Finalizers
		return next, nil
	})
	if err != nil {
		return nil, err
	}
	return d.decode(o)
}

// errChanged is why a status for an older state isn't stored.
var errChanged = errors.New("the CustomResourceDefinition has changed")

// instances is the entry of the CRD's custom resource.
func (d *CRDs) instances(one *apiextensionsv1.CustomResourceDefinition) (*resources.Resource, error) {
	for _, v := range one.Spec.Versions {
		if r := d.API.Types().Lookup(one.Spec.Group, v.Name, one.Spec.Names.Plural); v.Storage && r != nil &&
			r.Origin == string(one.UID) {
			return r, nil
		}
	}
	whole, err := d.whole(one)
	if err != nil {
		return nil, err
	}
	if r := customresource.Stored(whole, d.Webhooks); r != nil {
		return r, nil
	}
	return nil, apierrors.NewNotFound(apiextensionsv1.Resource("customresourcedefinitions"), one.Name)
}

// Overlaps implements crd.API.
func (d *CRDs) Overlaps(one *apiextensionsv1.CustomResourceDefinition) bool {
	r := d.API.Types().Collection(one.Spec.Group + "/" + one.Spec.Names.Plural)
	return r != nil && !r.Custom
}

// Namespaces implements crd.API.
func (d *CRDs) Namespaces(ctx context.Context, one *apiextensionsv1.CustomResourceDefinition) ([]string, error) {
	r, err := d.instances(one)
	if err != nil {
		return nil, err
	}
	objs, err := d.API.List(ctx, registry.Path{Resource: r})
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

// DeleteAll implements crd.API.
func (d *CRDs) DeleteAll(
	ctx context.Context, one *apiextensionsv1.CustomResourceDefinition, namespace string,
) error {
	r, err := d.instances(one)
	if err != nil {
		return err
	}
	api := d.API.Because(trail.CustomResourceDefinitionDeleted, []trail.Object{{
		APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition", Name: one.Name,
		UID: string(one.UID),
	}})
	return api.DeleteCollection(ctx, registry.Path{Resource: r, Namespace: namespace}, &metav1.DeleteOptions{})
}
