package autoscale

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// warn records an event.
func (d *decision) warn(reason, message string) {
	d.events = append(d.events, workload.Warning(reason, message))
}

// condition sets a condition. Its time changes with its status (setConditionInList).
func (d *decision) condition(t autoscalingv2.HorizontalPodAutoscalerConditionType, is bool, reason, message string) {
	c := autoscalingv2.HorizontalPodAutoscalerCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason,
		Message: message, LastTransitionTime: metav1.NewTime(d.now)}
	if is {
		c.Status = corev1.ConditionTrue
	}
	for i, had := range d.status.Conditions {
		if had.Type == t {
			if had.Status == c.Status {
				c.LastTransitionTime = had.LastTransitionTime
			}
			d.status.Conditions[i] = c
			return
		}
	}
	d.status.Conditions = append(d.status.Conditions, c)
}
