package statefulset

import (
	"k8s.io/apimachinery/pkg/util/intstr"
)

// renew plans the end of outdated pods, the highest number first; new ones take their places in later passes. Pods
// that aren't available anyway may be replaced beyond the limit, as that takes nothing from anybody
// (stateful_set_control.go: updateStatefulSetAfterInvariantEstablished).
func (s *pass) renew() {
	left := s.mostUnavailable()
	for _, p := range s.replicas {
		if p == nil || s.unavailable(p) {
			left--
		}
	}
	for i := len(s.replicas) - 1; i >= s.partition(); i-- {
		p := s.replicas[i]
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
