package apiserver

import (
	"context"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// priorityClasses returns every priority class (admission.Priority).
func (s *Server) priorityClasses(ctx context.Context) (out []*schedulingv1.PriorityClass, err error) {
	res := s.types.Lookup(schedulingv1.GroupName, "v1", "priorityclasses")
	if res == nil {
		return nil, nil
	}
	if err := s.fresh(ctx); err != nil {
		return nil, err
	}
	snap, err := s.cache.Snapshot(res.Collection, 0)
	if err != nil {
		return nil, err
	}
	o := op{target: target{res: res}}
	snap.Ascend("", "", func(item *storage.Object) bool {
		obj, e := o.decode(item)
		if e != nil { // one broken class must not keep every pod from being created
			s.unreadable(item.Key, e, "no priority class")
			return true
		}
		out = append(out, obj.(*schedulingv1.PriorityClass))
		return true
	})
	return out, nil
}
