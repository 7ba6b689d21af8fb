package deployment

import (
	"cmp"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// forget deletes the old ReplicaSets beyond the history limit, the lowest revisions first, if they have no pods
// (cleanupDeployment).
func (s *state) forget() {
	limit := s.d.Spec.RevisionHistoryLimit
	if limit == nil || *limit == math.MaxInt32 {
		return
	}
	old := slices.DeleteFunc(slices.Clone(s.olds), func(rs *appsv1.ReplicaSet) bool { return rs.DeletionTimestamp != nil })
	slices.SortStableFunc(old, func(a, b *appsv1.ReplicaSet) int { return cmp.Compare(revisionOf(a), revisionOf(b)) })
	for _, rs := range old[:max(0, len(old)-int(*limit))] {
		if rs.Status.Replicas == 0 && size(rs) == 0 && rs.Generation <= rs.Status.ObservedGeneration {
			s.do = append(s.do, workload.Delete{Object: rs})
		}
	}
}
