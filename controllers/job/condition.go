package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func find(list []batchv1.JobCondition, t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range list {
		if list[i].Type == t {
			return &list[i]
		}
	}
	return nil
}

func isTrue(list []batchv1.JobCondition, t batchv1.JobConditionType) bool {
	c := find(list, t)
	return c != nil && c.Status == corev1.ConditionTrue
}

// newCondition returns a condition that is true as of now.
func (p *pass) newCondition(t batchv1.JobConditionType, reason, message string) *batchv1.JobCondition {
	return &batchv1.JobCondition{
		Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastProbeTime: *p.time(), LastTransitionTime: *p.time(),
	}
}

// ensure sets a condition in the list, unless it is already set. A condition with status False is only added if the
// type is already there (job_controller.go: ensureJobConditionStatus).
func ensure(list []batchv1.JobCondition, c batchv1.JobCondition) (out []batchv1.JobCondition, changed bool) {
	old := find(list, c.Type)
	switch {
	case old == nil && c.Status == corev1.ConditionFalse:
		return list, false
	case old == nil:
		return append(list, c), true
	case old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message:
		return list, false
	}
	*old = c
	return list, true
}
