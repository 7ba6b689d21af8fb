package printers

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func podTable() Table {
	t := of(podColumns(), podCells)
	t.Conditions = func(obj runtime.Object) []metav1.TableRowCondition { return podConditions(as[*corev1.Pod](obj)) }
	return t
}

func podColumns() []Column {
	spec, status := corev1.PodSpec{}.SwaggerDoc(), corev1.PodStatus{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Ready", "The aggregate readiness state of this pod for accepting traffic."),
		text("Status", "The aggregate status of the containers in this pod."),
		text("Restarts", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
		ageColumn,
		wide(text("IP", status["podIP"])),
		wide(text("Node", spec["nodeName"])),
		wide(text("Nominated Node", status["nominatedNodeName"])),
		wide(text("Readiness Gates", spec["readinessGates"])),
	}
}

func podCells(p *corev1.Pod, now time.Time) []any {
	s := containerSummary(p)
	return []any{
		p.Name,
		fmt.Sprintf("%d/%d", s.ready, s.total),
		s.reason,
		s.restarts.text(now),
		age(&p.ObjectMeta, now),
		or(podIP(p), none),
		or(p.Spec.NodeName, none),
		or(p.Status.NominatedNodeName, none),
		readinessGates(p),
	}
}

// podIP is podIP where it and podIPs differ, as in upstream's conversion (Convert_v1_PodStatus_To_core_PodStatus).
func podIP(p *corev1.Pod) string {
	if p.Status.PodIP == "" && len(p.Status.PodIPs) > 0 {
		return p.Status.PodIPs[0].IP
	}
	return p.Status.PodIP
}

func readinessGates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return none
	}
	met := 0
	for _, g := range p.Spec.ReadinessGates {
		if podCondition(p, g.ConditionType) {
			met++
		}
	}
	return fmt.Sprintf("%d/%d", met, len(p.Spec.ReadinessGates))
}

// podCondition reports whether the condition of that type is True.
func podCondition(p *corev1.Pod, t corev1.PodConditionType) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == t {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// podConditions marks the row of a pod that has ended, so that clients can hide it.
func podConditions(p *corev1.Pod) []metav1.TableRowCondition {
	message := ""
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		message = "The pod has completed successfully."
	case corev1.PodFailed:
		message = "The pod failed."
	default:
		return nil
	}
	return []metav1.TableRowCondition{{
		Type:    metav1.RowCompleted,
		Status:  metav1.ConditionTrue,
		Reason:  string(p.Status.Phase),
		Message: message,
	}}
}
