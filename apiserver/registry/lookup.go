package registry

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// stored returns every object of a collection, or those of one namespace, as fresh as a quorum read.
// What can't be read is left out: one broken object must not keep others from being created.
func stored[T Object](ctx context.Context, s *Registry, res *resources.Resource, namespace string) (out []T, err error) {
	if res == nil {
		return nil, nil
	}
	if err := s.Fresh(ctx); err != nil {
		return nil, err
	}
	snap, err := s.Cache.Snapshot(res.Collection, 0)
	if err != nil {
		return nil, err
	}
	o := Operation{Target: Target{Resource: res}}
	prefix := ""
	if namespace != "" {
		prefix = s.within(res, namespace)
	}
	snap.Ascend(prefix, "", func(item *storage.Object) bool {
		obj, e := o.Decode(item)
		if e != nil {
			s.Unreadable(item.Key, e, "omitted")
			return true
		}
		out = append(out, obj.(T))
		return true
	})
	return out, nil
}

// storedNamed returns one object of a cluster-scoped resource, as fresh as a quorum read; nil if there is none.
func storedNamed[T Object](ctx context.Context, s *Registry, res *resources.Resource, name string) (none T, err error) {
	if res == nil {
		return none, nil
	}
	item, err := s.Load(ctx, s.Root+"/"+res.Collection+"/"+name)
	if err != nil || item == nil {
		return none, err
	}
	o := Operation{Target: Target{Resource: res}}
	obj, err := o.Decode(item)
	if err != nil {
		return none, err
	}
	return obj.(T), nil
}

// storedWithin is stored for what few namespaces have: if the cache shows none, there was none when the
// request looked its namespace or its object up, and nobody is asked again.
func storedWithin[T Object](ctx context.Context, s *Registry, res *resources.Resource, namespace string) ([]T, error) {
	if res == nil {
		return nil, nil
	}
	snap, err := s.Cache.Snapshot(res.Collection, 0)
	if err != nil || snap.Count(s.within(res, namespace), "") == 0 {
		return nil, err
	}
	return stored[T](ctx, s, res, namespace)
}

// within is the prefix of a namespace's keys.
func (s *Registry) within(res *resources.Resource, namespace string) string {
	return s.Root + "/" + res.Collection + "/" + namespace + "/"
}

// limitRanges returns those of a namespace (admission.LimitRanger).
func (s *Registry) limitRanges(ctx context.Context, namespace string) ([]*corev1.LimitRange, error) {
	return storedWithin[*corev1.LimitRange](ctx, s, s.Types.Lookup("", "v1", "limitranges"), namespace)
}

// resourceQuotas returns those of a namespace (admission.Quota).
func (s *Registry) resourceQuotas(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error) {
	return storedWithin[*corev1.ResourceQuota](ctx, s, s.Types.Lookup("", "v1", "resourcequotas"), namespace)
}

// storeQuota writes a quota's status as the server itself (admission.Quota).
func (s *Registry) storeQuota(ctx context.Context, q *corev1.ResourceQuota) error {
	p := Path{Resource: s.Types.Lookup("", "v1", "resourcequotas"), Subresource: "status", Namespace: q.Namespace, Name: q.Name}
	_, err := s.Loopback(auth.Loopback, "kube-apiserver").Update(ctx, p, q)
	return err
}

// ownerResources returns what serves a kind by discovery, whether or not it is stored; kinds may be written
// in lower case (admission.OwnerReferences; client-go restmapper: NewDiscoveryRESTMapper).
func (s *Registry) ownerResources(kind schema.GroupVersionKind) (out []*resources.Resource) {
	for _, r := range s.Types.All() {
		if r.Group == kind.Group && r.Version == kind.Version && (r.Kind == kind.Kind || strings.ToLower(r.Kind) == kind.Kind) {
			out = append(out, r)
		}
	}
	return out
}
