package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/quota"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/usage"
)

// Quotas is quota.API.
type Quotas struct {
	API   *registry.Loopback
	Cache *cache.Cache
}

const resourceQuotas = "resourcequotas"

// Follow implements quota.Follower with the timeline of all collections while there are quotas.
func (q *Quotas) Follow(ctx context.Context, sink func(quota.Event)) error {
	var f quotaFeed
	return Feed{Cache: q.Cache, First: resourceQuotas,
		Quiet: func() bool { return len(f.quotas) == 0 },
		Begin: func(state iter.Seq[*storage.Object]) {
			f = quotaFeed{types: q.API.Types(), quotas: map[string]int{}, sink: sink}
			for o := range state {
				f.exists(o, true)
			}
		},
		Each: func(e *cache.Event) error {
			f.handle(e)
			return nil
		},
	}.Follow(ctx)
}

// quotaFeed sends events that affect quotas. It belongs to one goroutine.
type quotaFeed struct {
	types *resources.Types
	// quotas is the number of quotas of each namespace.
	quotas map[string]int
	sink   func(quota.Event)
}

func (f *quotaFeed) handle(e *cache.Event) {
	m := &e.Object.Meta
	switch {
	case e.Collection == resourceQuotas && e.Type == cache.Deleted:
		if f.quotas[m.Namespace]--; f.quotas[m.Namespace] <= 0 {
			delete(f.quotas, m.Namespace)
		}
		f.sink(quota.Event{Type: quota.Gone, Namespace: m.Namespace, Name: m.Name})
	case e.Collection == resourceQuotas:
		f.exists(e.Object, e.Type == cache.Added)
	}
	if f.quotas[m.Namespace] == 0 || e.Type == cache.Added {
		return
	}
	if e.Type == cache.Deleted || f.measured(e.Collection) {
		f.sink(quota.Event{Type: quota.Content, Namespace: m.Namespace})
	}
}

// exists sends a quota.
func (f *quotaFeed) exists(o *storage.Object, added bool) {
	if added {
		f.quotas[o.Meta.Namespace]++
	}
	var q struct {
		Spec   corev1.ResourceQuotaSpec
		Status corev1.ResourceQuotaStatus
	}
	// The pass reports an error for a quota that can't be decoded.
	unknown := json.Unmarshal(o.JSON, &q) == nil && (!usage.Same(q.Spec.Hard, q.Status.Hard) || q.Status.Used == nil)
	f.sink(quota.Event{Type: quota.Exists, Namespace: o.Meta.Namespace, Name: o.Meta.Name, Unknown: unknown})
}

func (f *quotaFeed) measured(collection string) bool {
	r := f.types.Collection(collection)
	return r != nil && usage.Measured(r.GroupResource())
}

func (q *Quotas) path(sub, namespace, name string) registry.Path {
	return registry.Path{
		Resource: q.API.Types().Lookup("", "v1", resourceQuotas), Subresource: sub, Namespace: namespace, Name: name,
	}
}

// Quotas implements quota.API.
func (q *Quotas) Quotas(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error) {
	objs, err := q.API.List(ctx, q.path("", namespace, ""))
	if err != nil {
		return nil, err
	}
	var out []*corev1.ResourceQuota
	for _, o := range objs {
		one, err := typed[corev1.ResourceQuota](o, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// UpdateStatus implements quota.API.
func (q *Quotas) UpdateStatus(ctx context.Context, one *corev1.ResourceQuota) error {
	_, err := q.API.Update(ctx, q.path("status", one.Namespace, one.Name), one)
	return err
}

// measured returns an empty object of a resource of which more than the number is counted; nil for others.
func measured(r schema.GroupResource) runtime.Object {
	switch r {
	case schema.GroupResource{Resource: "pods"}:
		return new(corev1.Pod)
	case schema.GroupResource{Resource: "services"}:
		return new(corev1.Service)
	case schema.GroupResource{Resource: "persistentvolumeclaims"}:
		return new(corev1.PersistentVolumeClaim)
	case schema.GroupResource{Group: resourcev1.GroupName, Resource: "resourceclaims"}:
		return new(resourcev1.ResourceClaim)
	}
	return nil
}

// Objects implements quota.API.
func (q *Quotas) Objects(ctx context.Context, r schema.GroupResource, namespace string) ([]runtime.Object, error) {
	res := q.stored(r)
	if res == nil {
		return nil, apierrors.NewNotFound(r, "")
	}
	objs, err := q.API.List(ctx, registry.Path{Resource: res, Namespace: namespace})
	if err != nil {
		return nil, err
	}
	out := make([]runtime.Object, 0, len(objs))
	for _, o := range objs {
		obj := measured(r)
		if obj != nil {
			if err := json.Unmarshal(o.JSON, obj); err != nil {
				return nil, fmt.Errorf("decoding %s: %w", o.Key, err)
			}
		}
		out = append(out, obj)
	}
	return out, nil
}

// stored is the resource's entry of the storage version.
func (q *Quotas) stored(r schema.GroupResource) *resources.Resource {
	for _, res := range q.API.Types().All() {
		if res.GroupResource() == r && res.Namespaced && res.Collection != "" && res.ToStored == nil {
			return res
		}
	}
	return nil
}
