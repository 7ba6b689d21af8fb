package statefulset

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// renew plans the deletion of outdated pods, the highest ordinal first; later passes create new ones. Pods that aren't
// available anyway may be replaced beyond the limit, as that reduces no availability (stateful_set_control.go:
// updateStatefulSetAfterInvariantEstablished).
func (s *pass) renew() {
	left := s.mostUnavailable() - s.missed
	for _, r := range s.replicas {
		if r.pod != nil && s.unavailable(r.pod) {
			left--
		}
	}
	for _, r := range slices.Backward(s.replicas) {
		p := r.pod
		if r.number < s.start()+s.partition() {
			return
		}
		if p == nil || p.DeletionTimestamp != nil || revisionOf(p) == s.update.Name {
			continue
		}
		if s.available(p) {
			if left <= 0 {
				continue
			}
			left--
		}
		s.remove(p)
		if revisionOf(p) == s.current.Name {
			s.replaced++
		}
	}
}

// mostUnavailable is how many pods may be unavailable during an update, 1 at least
// (stateful_set_utils.go: getStatefulSetMaxUnavailable).
func (s *pass) mostUnavailable() int {
	u := s.set.Spec.UpdateStrategy.RollingUpdate
	if u == nil || u.MaxUnavailable == nil {
		return 1
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, int(*s.set.Spec.Replicas), false)
	if err != nil {
		return 1
	}
	return max(1, n)
}
