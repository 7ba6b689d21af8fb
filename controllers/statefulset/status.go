package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// status returns the set with its new status; nil if it is the same
// (stateful_set_control.go: computeReplicaStatus, updateStatefulSetStatus).
func (s *pass) status() workload.Object {
	out := appsv1.StatefulSetStatus{
		ObservedGeneration: s.set.Generation, CurrentRevision: s.current.Name, UpdateRevision: s.update.Name,
		CollisionCount: &s.collisions, Conditions: s.set.Status.Conditions,
	}
	for _, p := range s.pods {
		if ordinal(p) < 0 {
			continue
		}
		out.Replicas++
		if healthy(p) {
			out.ReadyReplicas++
			if s.available(p) {
				out.AvailableReplicas++
			}
		}
		if p.DeletionTimestamp != nil {
			continue
		}
		if revisionOf(p) == s.current.Name {
			out.CurrentReplicas++
		}
		if revisionOf(p) == s.update.Name {
			out.UpdatedReplicas++
		}
	}
	out.CurrentReplicas -= s.replaced
	// An update is complete when every pod has the new revision, even if another client has deleted the old pods
	// (V-082).
	if all := *s.set.Spec.Replicas; out.UpdatedReplicas == all && out.ReadyReplicas == all && out.Replicas == all {
		out.CurrentReplicas, out.CurrentRevision = out.UpdatedReplicas, out.UpdateRevision
	}
	if apiequality.Semantic.DeepEqual(out, s.set.Status) {
		return nil
	}
	next := s.set.DeepCopy()
	next.Status = out
	return next
}
