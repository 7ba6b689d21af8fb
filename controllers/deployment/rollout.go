package deployment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// scaled returns the event of a change of size.
func scaled(direction, name string, from, to int32) workload.Event {
	return workload.Normal(
		"ScalingReplicaSet", fmt.Sprintf("Scaled %s replica set %s from %d to %d", direction, name, from, to),
	)
}

// resize sets the size of a ReplicaSet to n, and reports whether that is a change.
func (s *state) resize(rs *appsv1.ReplicaSet, n int32) bool {
	if size(rs) == n {
		return false
	}
	e := s.edit(rs)
	s.note(e.rs)
	e.rs.Spec.Replicas = &n
	direction := "up"
	if n < size(rs) {
		direction = "down"
	}
	e.scaled = scaled(direction, rs.Name, size(rs), n)
	return true
}

// space returns the size that the newest ReplicaSet may have. The parameter now is its present size (NewRSNewReplicas).
func (s *state) space(now int32) int32 {
	if s.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return s.size
	}
	most, wanted := s.size+s.surge, sum(s.all, size)
	if wanted >= most {
		return now
	}
	return now + min(most-wanted, s.size-now)
}

// roll takes one step of a rolling update (rolloutRolling).
func (s *state) roll() {
	if s.newest == nil {
		s.create()
		return
	}
	s.number()
	if !s.grow() && !s.shrink() && s.complete(&s.d.Status) {
		s.forget()
	}
	s.progress()
}

// grow grows the newest ReplicaSet as far as allowed.
func (s *state) grow() bool {
	if size(s.newest) >= s.size {
		return s.resize(s.newest, s.size)
	}
	return s.resize(s.newest, s.space(size(s.newest)))
}

// shrink shrinks the old ReplicaSets, as long as enough pods of the Deployment stay available. It removes unavailable
// pods first (reconcileOldReplicaSets).
func (s *state) shrink() bool {
	if sum(s.olds, size) == 0 {
		return false
	}
	least := s.size - s.missing
	unavailable := size(s.newest) - available(s.newest)
	most := sum(s.all, size) - least - unavailable
	if most <= 0 {
		return false
	}
	sizes := map[types.UID]int32{}
	for _, rs := range s.olds {
		idle := max(0, size(rs)-available(rs))
		n := min(most, idle)
		sizes[rs.UID], most = size(rs)-n, most-n
	}
	spare := max(0, sum(s.all, available)-least)
	for _, rs := range s.olds {
		n := min(spare, sizes[rs.UID])
		sizes[rs.UID], spare = sizes[rs.UID]-n, spare-n
	}
	changed := false
	for _, rs := range s.olds {
		changed = s.resize(rs, sizes[rs.UID]) || changed
	}
	return changed
}

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

// forget deletes the old ReplicaSets beyond the history limit, the lowest revisions first, if they have no pods
// (cleanupDeployment).
func (s *state) forget() {
	limit := s.d.Spec.RevisionHistoryLimit
	if limit == nil || *limit == math.MaxInt32 {
		return
	}
	deleted := func(rs *appsv1.ReplicaSet) bool { return rs.DeletionTimestamp != nil }
	old := slices.DeleteFunc(slices.Clone(s.olds), deleted)
	slices.SortStableFunc(old, func(a, b *appsv1.ReplicaSet) int { return cmp.Compare(revisionOf(a), revisionOf(b)) })
	for _, rs := range old[:max(0, len(old)-int(*limit))] {
		if rs.Status.Replicas == 0 && size(rs) == 0 && rs.Generation <= rs.Status.ObservedGeneration {
			s.do = append(s.do, workload.Delete{Object: rs})
		}
	}
}
