package replicaset

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// next returns the set's new status, and the time until a ready pod becomes available, 0 if none will (K
// pkg/controller/replicaset/replica_set_utils.go: calculateStatus).
func (s set) next(
	active []*corev1.Pod, terminating int, f *workload.Failure, now time.Time,
) (next appsv1.ReplicaSetStatus, wait time.Duration) {
	next = appsv1.ReplicaSetStatus{Replicas: int32(len(active)), ObservedGeneration: s.GetGeneration()}
	if dying := int32(terminating); !s.silent {
		next.TerminatingReplicas = &dying
	}
	wanted := labels.SelectorFromSet(s.template.Labels)
	for _, p := range active {
		if wanted.Matches(labels.Set(p.Labels)) {
			next.FullyLabeledReplicas++
		}
		left, ok := workload.Available(p, s.minReady, now)
		switch {
		case !ok:
			continue
		case left == 0:
			next.AvailableReplicas++
		case wait == 0 || left < wait:
			wait = left
		}
		next.ReadyReplicas++
	}
	next.Conditions = s.conditions(len(active), f, now)
	return next, wait
}

// conditions sets ReplicaFailure if pods could not be created or deleted; a present one is unchanged while that lasts.
func (s set) conditions(active int, f *workload.Failure, now time.Time) []appsv1.ReplicaSetCondition {
	is := func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure }
	had := s.status.Conditions
	switch {
	case f == nil && active == s.replicas:
		return slices.DeleteFunc(slices.Clone(had), is)
	case f == nil || slices.ContainsFunc(had, is):
		return had
	}
	c := appsv1.ReplicaSetCondition{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(now), Message: f.Err.Error()}
	switch f.Action.(type) {
	case workload.Create:
		c.Reason = "FailedCreate"
	case workload.Delete:
		c.Reason = "FailedDelete"
	default:
		return had
	}
	return append(slices.Clone(had), c)
}
