package deployment

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// condition returns the condition of the type in the new status; nil if there is none.
func (s *state) condition(t appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range s.status.Conditions {
		if s.status.Conditions[i].Type == t {
			return &s.status.Conditions[i]
		}
	}
	return nil
}

func (s *state) remove(t appsv1.DeploymentConditionType) {
	s.status.Conditions = slices.DeleteFunc(slices.Clone(s.status.Conditions),
		func(c appsv1.DeploymentCondition) bool { return c.Type == t })
}

// put sets a condition, unless the present one has the same status and reason. If the status does not change, the
// transition time stays (SetDeploymentCondition).
func (s *state) put(c appsv1.DeploymentCondition) {
	had := s.condition(c.Type)
	if had != nil && had.Status == c.Status {
		if had.Reason == c.Reason {
			return
		}
		c.LastTransitionTime = had.LastTransitionTime
	}
	s.remove(c.Type)
	s.status.Conditions = append(s.status.Conditions, c)
}

func (s *state) set(t appsv1.DeploymentConditionType, is corev1.ConditionStatus, reason, message string) {
	at := metav1.NewTime(s.now)
	s.put(appsv1.DeploymentCondition{
		Type: t, Status: is, Reason: reason, Message: message, LastUpdateTime: at, LastTransitionTime: at,
	})
}

// pause sets the condition Progressing when a deployment is paused or resumed, and reports whether the deployment is
// paused. The controller expects no progress of a paused deployment (checkPausedConditions).
func (s *state) pause() bool {
	c := s.condition(appsv1.DeploymentProgressing)
	noted := c != nil && c.Reason == "DeploymentPaused"
	switch {
	case !s.deadline() || c != nil && c.Reason == timedOut:
	case s.d.Spec.Paused && !noted:
		s.set(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
	case !s.d.Spec.Paused && noted:
		s.set(appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentResumed", "Deployment is resumed")
	}
	return s.d.Spec.Paused
}
