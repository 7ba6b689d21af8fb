package deployment

import (
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func (s *state) setStatus(next appsv1.DeploymentStatus) { s.status = next }

// counted returns the status that follows from the ReplicaSets (calculateStatus).
func (s *state) counted() appsv1.DeploymentStatus {
	n := appsv1.DeploymentStatus{
		ObservedGeneration: s.d.Generation, CollisionCount: s.status.CollisionCount,
		Conditions: slices.Clone(s.status.Conditions),
		Replicas:   sum(s.all, actual), UpdatedReplicas: sum([]*appsv1.ReplicaSet{s.newest}, actual),
		ReadyReplicas: sum(s.all, ready), AvailableReplicas: sum(s.all, available), TerminatingReplicas: s.terminating(),
	}
	n.UnavailableReplicas = max(0, sum(s.all, size)-n.AvailableReplicas)
	if n.AvailableReplicas >= s.size-s.missing {
		set(
			&n, s.now, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable",
			"Deployment has minimum availability.",
		)
	} else {
		set(
			&n, s.now, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable",
			"Deployment does not have minimum availability.",
		)
	}
	return n
}

// terminating returns the number of terminating pods; nil if a ReplicaSet doesn't report it.
func (s *state) terminating() *int32 {
	n := int32(0)
	for _, rs := range s.all {
		if rs.Status.TerminatingReplicas == nil {
			return nil
		}
		n += *rs.Status.TerminatingReplicas
	}
	return &n
}

// deadline reports whether the deployment has a progress deadline.
func (s *state) deadline() bool {
	n := s.d.Spec.ProgressDeadlineSeconds
	return n != nil && *n != math.MaxInt32
}

// complete reports whether the rollout is complete (DeploymentComplete).
func (s *state) complete(n *appsv1.DeploymentStatus) bool {
	return n.UpdatedReplicas == s.size && n.Replicas == s.size && n.AvailableReplicas == s.size &&
		n.ObservedGeneration >= s.d.Generation
}

// moved reports whether the rollout has made progress (DeploymentProgressing).
func (s *state) moved(n *appsv1.DeploymentStatus) bool {
	old := &s.d.Status
	return n.UpdatedReplicas > old.UpdatedReplicas || n.Replicas-n.UpdatedReplicas < old.Replicas-old.UpdatedReplicas ||
		n.ReadyReplicas > old.ReadyReplicas || n.AvailableReplicas > old.AvailableReplicas
}

// progressed adds the rollout's progress to a status (syncRolloutStatus).
func (s *state) progressed(n appsv1.DeploymentStatus) appsv1.DeploymentStatus {
	now := condition(&s.status, appsv1.DeploymentProgressing)
	if !s.deadline() {
		remove(&n, appsv1.DeploymentProgressing)
	} else if now == nil || now.Reason != newAvailable || n.Replicas != n.UpdatedReplicas {
		s.watch(&n, now)
	}
	if f := s.failure(); f != nil {
		put(&n, *f)
	} else {
		remove(&n, appsv1.DeploymentReplicaFailure)
	}
	return n
}

const (
	newAvailable = "NewReplicaSetAvailable"
	timedOut     = "ProgressDeadlineExceeded"
)

// watch sets the condition for progress, or for the lack of it.
func (s *state) watch(n *appsv1.DeploymentStatus, now *appsv1.DeploymentCondition) {
	who := fmt.Sprintf("Deployment %q", s.d.Name)
	if s.newest != nil {
		who = fmt.Sprintf("ReplicaSet %q", s.newest.Name)
	}
	switch {
	case s.complete(n):
		set(n, s.now, appsv1.DeploymentProgressing, corev1.ConditionTrue, newAvailable, who+" has successfully progressed.")
	case s.moved(n):
		remove(n, appsv1.DeploymentProgressing) // so that its time is set again
		set(n, s.now, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", who+" is progressing.")
		if now != nil && now.Status == corev1.ConditionTrue {
			n.Conditions[len(n.Conditions)-1].LastTransitionTime = now.LastTransitionTime
		}
	case now == nil || now.Reason == newAvailable || now.Reason == timedOut:
	default:
		left := now.LastUpdateTime.Add(time.Duration(*s.d.Spec.ProgressDeadlineSeconds) * time.Second).Sub(s.now)
		if left < 0 {
			set(n, s.now, appsv1.DeploymentProgressing, corev1.ConditionFalse, timedOut, who+" has timed out progressing.")
			return
		}
		s.again = left + time.Second
	}
}

// failure returns the failure condition of the ReplicaSets, the newest first (getReplicaFailures).
func (s *state) failure() *appsv1.DeploymentCondition {
	for _, rs := range append([]*appsv1.ReplicaSet{s.newest}, s.all...) {
		if rs == nil {
			continue
		}
		for _, c := range rs.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure {
				return &appsv1.DeploymentCondition{Type: appsv1.DeploymentReplicaFailure, Status: c.Status, Reason: c.Reason,
					Message:            c.Message,
					LastTransitionTime: c.LastTransitionTime, LastUpdateTime: c.LastTransitionTime}
			}
		}
	}
	return nil
}
