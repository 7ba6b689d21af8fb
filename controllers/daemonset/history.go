package daemonset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// hashLabel is the label of pods and revisions with the template's hash.
const hashLabel = appsv1.DefaultDaemonSetUniqueLabelKey

// revise finds the current revision. If ok is false, the plan must be carried out first (update.go: constructHistory).
func (s *pass) revise() (plan workload.Plan, ok bool) {
	s.history = workload.SortRevisions(s.history)
	data := workload.RevisionData(&s.set.Spec.Template)
	var same []*appsv1.ControllerRevision
	for _, r := range s.history {
		switch {
		case r.Labels[hashLabel] == "":
			plan.Do = append(plan.Do, workload.Update{Object: labeled(r)})
		case workload.HoldsRevision(r, data):
			same = append(same, r)
		default:
			s.old = append(s.old, r)
		}
	}
	next := workload.NextRevision(s.old)
	switch {
	case len(plan.Do) > 0:
		return plan, false
	case len(same) == 0:
		return s.snapshot(data, next), false
	}
	s.current = same[len(same)-1]
	s.hash = s.current.Labels[hashLabel]
	switch {
	case len(same) > 1:
		plan.Do = s.unite(same[:len(same)-1])
		return plan, false
	case s.current.Revision < next: // an older revision becomes the newest again
		again := s.current.DeepCopy()
		again.Revision = next
		plan.Do = append(plan.Do, workload.Update{Object: again})
		return plan, false
	}
	return plan, true
}

// labeled adds the label to an old revision, from its name.
func labeled(r *appsv1.ControllerRevision) *appsv1.ControllerRevision {
	r = r.DeepCopy()
	metav1.SetMetaDataLabel(&r.ObjectMeta, hashLabel, r.Name)
	return r
}

// snapshot plans a revision of the set's template. If its name is in use, the hash is computed again with the next
// count of collisions (update.go: snapshot).
func (s *pass) snapshot(data []byte, number int64) workload.Plan {
	hash := workload.TemplateHash(&s.set.Spec.Template, s.set.Status.CollisionCount)
	r := workload.NewRevision(s.set, &s.set.Spec.Template, data, number)
	r.Name, r.Labels[hashLabel] = s.set.Name+"-"+hash, hash
	if workload.Get[*appsv1.ControllerRevision](s.View, r.Namespace, r.Name) == nil {
		return workload.Plan{Do: []workload.Action{workload.Create{Object: r}}}
	}
	set := s.set.DeepCopy()
	set.Status.CollisionCount = new(ptr.Deref(set.Status.CollisionCount, 0) + 1)
	return workload.Plan{Status: set}
}

// unite sets the label of the current revision on all pods, and then deletes other revisions with the same data
// (update.go: dedupCurHistories).
func (s *pass) unite(twins []*appsv1.ControllerRevision) (do []workload.Action) {
	for _, p := range s.pods {
		if slices.ContainsFunc(twins, func(r *appsv1.ControllerRevision) bool {
			return p.Labels[hashLabel] == r.Labels[hashLabel]
		}) {
			p = p.DeepCopy()
			p.Labels[hashLabel] = s.hash
			do = append(do, workload.Update{Object: p})
		}
	}
	for _, r := range twins {
		do = append(do, workload.Delete{Object: r})
	}
	return do
}

// forget deletes the oldest revisions without pods, if there are more than the limit (update.go: cleanupHistory).
func (s *pass) forget() {
	if s.set.Spec.RevisionHistoryLimit == nil {
		return
	}
	used := map[string]bool{}
	for _, p := range s.pods {
		used[p.Labels[hashLabel]] = true
	}
	live := func(r *appsv1.ControllerRevision) bool { return used[r.Labels[hashLabel]] }
	limit := int(*s.set.Spec.RevisionHistoryLimit)
	for _, r := range s.old {
		if live(r) {
			limit-- // these revisions count as well
		}
	}
	for _, r := range workload.ExcessRevisions(s.old, limit, live) {
		s.plan.Do = append(s.plan.Do, workload.Delete{Object: r})
	}
}
