package registry

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/storage"
)

// namespaceLabels returns a namespace's labels (admission.PodSecurity). They are those that the cache shows:
// when NamespaceLifecycle looked, it was as fresh as a quorum read, and a create commits only if the
// namespace is still the same. Only an absence is looked at anew.
func (s *Registry) namespaceLabels(ctx context.Context, namespace string) (map[string]string, bool, error) {
	key := s.Root + "/namespaces/" + namespace
	ns, _ := s.Cache.Get(key)
	if ns == nil {
		var err error
		if ns, err = s.Load(ctx, key); err != nil || ns == nil {
			return nil, false, err
		}
	}
	return ns.Meta.Labels, true, nil
}

// podsWithin returns the pods of a namespace as of now (admission.PodSecurity). One that can't be read
// keeps nobody from changing its namespace.
func (s *Registry) podsWithin(ctx context.Context, namespace string) (out []admission.StoredPod, err error) {
	pods := s.Types.Lookup("", "v1", "pods")
	if err := s.Fresh(ctx); err != nil {
		return nil, err
	}
	snap, err := s.Cache.Snapshot(pods.Collection, 0)
	if err != nil {
		return nil, err
	}
	o := Operation{Target: Target{Resource: pods}}
	snap.Ascend(s.within(pods, namespace), "", func(item *storage.Object) bool {
		out = append(out, admission.StoredPod{Controller: controllerOf(item), Read: func() *corev1.Pod {
			obj, err := o.Decode(item)
			if err != nil {
				s.Unreadable(item.Key, err, "omitted")
				return nil
			}
			return obj.(*corev1.Pod)
		}})
		return true
	})
	return out, nil
}

// controllerOf is the uid of the owner that controls the object; empty for none.
func controllerOf(o *storage.Object) string {
	for _, owner := range o.Meta.Owners {
		if owner.Controller {
			return owner.UID
		}
	}
	return ""
}
