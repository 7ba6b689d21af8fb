package deployment

import (
	"fmt"
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// count sets the numbers of the status, and the condition for availability (calculateStatus).
func (s *state) count() {
	n := &s.status
	n.ObservedGeneration = s.d.Generation
	n.Replicas, n.UpdatedReplicas = sum(s.all, actual), sum([]*appsv1.ReplicaSet{s.newest}, actual)
	n.ReadyReplicas, n.AvailableReplicas = sum(s.all, ready), sum(s.all, available)
	n.UnavailableReplicas, n.TerminatingReplicas = max(0, sum(s.all, size)-n.AvailableReplicas), s.terminating()
	if n.AvailableReplicas >= s.size-s.missing {
		s.set(appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable",
			"Deployment has minimum availability.")
	} else {
		s.set(appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable",
			"Deployment does not have minimum availability.")
	}
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
func (s *state) moved() bool {
	n, old := &s.status, &s.d.Status
	return n.UpdatedReplicas > old.UpdatedReplicas || n.Replicas-n.UpdatedReplicas < old.Replicas-old.UpdatedReplicas ||
		n.ReadyReplicas > old.ReadyReplicas || n.AvailableReplicas > old.AvailableReplicas
}

// progress sets the status of a rollout (syncRolloutStatus).
func (s *state) progress() {
	s.count()
	now := s.condition(appsv1.DeploymentProgressing)
	if !s.deadline() {
		s.remove(appsv1.DeploymentProgressing)
	} else if now == nil || now.Reason != newAvailable || s.status.Replicas != s.status.UpdatedReplicas {
		s.watch(now)
	}
	if f := s.failure(); f != nil {
		s.put(*f)
	} else {
		s.remove(appsv1.DeploymentReplicaFailure)
	}
}

const (
	newAvailable = "NewReplicaSetAvailable"
	timedOut     = "ProgressDeadlineExceeded"
)

// watch sets the condition for progress, or for the lack of it.
func (s *state) watch(now *appsv1.DeploymentCondition) {
	who := fmt.Sprintf("Deployment %q", s.d.Name)
	if s.newest != nil {
		who = fmt.Sprintf("ReplicaSet %q", s.newest.Name)
	}
	switch {
	case s.complete(&s.status):
		s.set(appsv1.DeploymentProgressing, corev1.ConditionTrue, newAvailable, who+" has successfully progressed.")
	case s.moved():
		s.remove(appsv1.DeploymentProgressing) // so that its time is set again
		s.set(appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", who+" is progressing.")
		if now != nil && now.Status == corev1.ConditionTrue {
			s.condition(appsv1.DeploymentProgressing).LastTransitionTime = now.LastTransitionTime
		}
	case now == nil || now.Reason == newAvailable || now.Reason == timedOut:
	default:
		left := now.LastUpdateTime.Add(time.Duration(*s.d.Spec.ProgressDeadlineSeconds) * time.Second).Sub(s.now)
		if left < 0 {
			s.set(appsv1.DeploymentProgressing, corev1.ConditionFalse, timedOut, who+" has timed out progressing.")
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
