package statefulset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// revise finds the current and the update revision. If ok is false, the actions must be carried out first
// (stateful_set_control.go: getStatefulSetRevisions).
func (s *pass) revise() (do []workload.Action, ok bool) {
	s.history = workload.SortRevisions(s.history)
	data := workload.RevisionData(&s.set.Spec.Template)
	if s.set.Status.CollisionCount != nil {
		s.collisions = *s.set.Status.CollisionCount
	}
	for _, r := range slices.Backward(s.history) {
		if workload.HoldsRevision(r, data) {
			s.update = r
			break
		}
	}
	switch next := workload.NextRevision(s.history); {
	case s.set.DeletionTimestamp != nil && s.update == nil:
		return nil, false // the set's revisions are deleted before the set
	case s.set.DeletionTimestamp != nil:
	case s.update == nil:
		return []workload.Action{workload.Create{Object: s.newRevision(data, next)}}, false
	case s.update != s.history[len(s.history)-1]: // an older revision becomes the newest again
		again := s.update.DeepCopy()
		again.Revision = next
		return []workload.Action{workload.Update{Object: again}}, false
	}
	s.current = s.update
	for _, r := range s.history {
		if r.Name == s.set.Status.CurrentRevision {
			s.current = r
		}
	}
	return nil, true
}

// newRevision returns a revision of the set's template. Names in use are skipped.
func (s *pass) newRevision(data []byte, number int64) *appsv1.ControllerRevision {
	r := workload.NewRevision(s.set, &s.set.Spec.Template, data, number)
	for {
		hash := workload.RevisionHash(data, s.collisions)
		r.Name, r.Labels[workload.RevisionHashLabel] = workload.RevisionName(s.set.Name, hash), hash
		if workload.Get[*appsv1.ControllerRevision](s.View, r.Namespace, r.Name) == nil {
			return r
		}
		s.collisions++
	}
}

// template returns the template of a revision, or the set's if it can't be decoded.
func (s *pass) template(r *appsv1.ControllerRevision) *corev1.PodTemplateSpec {
	if t, err := workload.RevisionTemplate(r); err == nil {
		return t
	}
	return &s.set.Spec.Template
}

// forget deletes the oldest unused revisions, if there are more than the limit (stateful_set_control.go:
// truncateHistory).
func (s *pass) forget() (do []workload.Action) {
	if s.set.Spec.RevisionHistoryLimit == nil {
		return nil
	}
	live := map[string]bool{s.current.Name: true, s.update.Name: true}
	for _, p := range s.pods {
		live[revisionOf(p)] = true
	}
	for _, r := range workload.ExcessRevisions(
		s.history, int(*s.set.Spec.RevisionHistoryLimit), func(r *appsv1.ControllerRevision) bool { return live[r.Name] },
	) {
		do = append(do, workload.Delete{Object: r})
	}
	return do
}
