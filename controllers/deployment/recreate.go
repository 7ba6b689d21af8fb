package deployment

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// recreate takes one step of a rollout that deletes all old pods before it creates new ones (rolloutRecreate).
func (s *state) recreate() {
	s.number()
	changed := false
	for _, rs := range active(s.olds) {
		changed = s.resize(rs, 0) || changed
	}
	if !changed && !s.oldPods() {
		if s.newest == nil {
			s.create()
			return
		}
		if !s.resize(s.newest, s.size) && s.complete(&s.d.Status) {
			s.forget()
		}
	}
	s.progress()
}

// oldPods reports whether a pod of an old ReplicaSet may still run (oldPodsRunning).
func (s *state) oldPods() bool {
	return sum(s.olds, actual) > 0 || slices.ContainsFunc(s.olds, func(rs *appsv1.ReplicaSet) bool {
		return slices.ContainsFunc(workload.Controlled[*corev1.Pod](s.view, rs.UID), func(p *corev1.Pod) bool {
			return !workload.Finished(p)
		})
	})
}
