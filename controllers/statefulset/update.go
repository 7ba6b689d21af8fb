package statefulset

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// renew plans the deletion of outdated pods from the partition on, the highest ordinal first; later passes create new
// ones (V-081; stateful_set_control.go: updateStatefulSetAfterInvariantEstablished). In an ordered set all deletions
// count. Otherwise pods that aren't available anyway are replaced first and beyond the limit, as that reduces no
// availability.
func (s *pass) renew() {
	left := s.mostUnavailable() - s.missed
	var down, up []*corev1.Pod
	for _, r := range slices.Backward(s.replicas) {
		p := r.pod
		if p == nil {
			continue
		}
		usable := healthy(p) && !s.unavailable(p)
		if !usable {
			left--
		}
		switch {
		case r.number < s.start()+s.partition() || p.DeletionTimestamp != nil || revisionOf(p) == s.update.Name:
		case usable || s.ordered():
			up = append(up, p)
		default:
			down = append(down, p)
		}
	}
	s.replace(down)
	s.replace(up[:min(len(up), max(0, left))])
}

// renewOne plans the deletion of the outdated pod with the highest ordinal from the partition on, if all pods above it
// are available (the end of stateful_set_control.go: updateStatefulSet).
func (s *pass) renewOne() {
	for _, r := range slices.Backward(s.replicas) {
		p := r.pod
		switch {
		case r.number < s.start()+s.partition(), p == nil, workload.Finished(p): // a new pod is not available
			return
		case p.DeletionTimestamp == nil && revisionOf(p) != s.update.Name:
			s.replace([]*corev1.Pod{p})
			return
		case !healthy(p) || s.unavailable(p):
			return
		}
	}
}

func (s *pass) replace(pods []*corev1.Pod) {
	for _, p := range pods {
		s.remove(p)
		if revisionOf(p) == s.current.Name {
			s.replaced++
		}
	}
}

// mostUnavailable returns the number of pods that may be unavailable during an update, at least 1
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
