package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// staleTimeout is the time for which a pod may have the condition DisruptionTarget without being deleted
// (disruption.go: stalePodDisruptionTimeout).
const staleTimeout = 2 * time.Minute

// Pods returns the part of disruption-controller that resets stale conditions of pods, and warns of pods that several
// budgets select.
func Pods() workload.Controller {
	return workload.Controller{
		Name: component, For: workload.Pods, Quiet: true,
		Awaits: "the end of the condition DisruptionTarget",
		Wake: func(r workload.Reader, c workload.Change) []workload.Key {
			if c.New == nil || len(budgetsOf(r, c.New.Namespace, c.New.Labels)) < 2 &&
				!c.New.Mentions(string(corev1.DisruptionTarget)) {
				return nil
			}
			return []workload.Key{c.New.Key}
		},
		Decide: workload.Present(func(v workload.View, p *corev1.Pod, now time.Time) (plan workload.Plan) {
			if all := budgetsOf(v, p.Namespace, p.Labels); len(all) > 1 {
				plan.Events = append(plan.Events, workload.Warning("MultiplePodDisruptionBudgets", fmt.Sprintf(
					"Pod %q/%q matches multiple PodDisruptionBudgets.  Chose %q arbitrarily.", p.Namespace, p.Name, all[0].Name)))
			}
			if c := target(p); c != nil {
				wait := c.LastTransitionTime.Add(staleTimeout).Sub(now)
				if plan.Again = max(0, wait); wait <= 0 {
					plan.Status = reset(p, now)
				}
			}
			return plan
		}),
	}
}

// target returns the condition DisruptionTarget if it becomes stale; nil if the pod has none, is being deleted, has
// finished, or is terminated by its kubelet (nonTerminatingPodHasStaleDisruptionCondition).
func target(p *corev1.Pod) *corev1.PodCondition {
	c := workload.PodCondition(p, corev1.DisruptionTarget)
	if c == nil || c.Status != corev1.ConditionTrue || c.Reason == corev1.PodReasonTerminationByKubelet ||
		!workload.Active(p) {
		return nil
	}
	return c
}

// reset returns the pod with the condition DisruptionTarget set to False (syncStalePodDisruption).
func reset(p *corev1.Pod, now time.Time) *corev1.Pod {
	p = p.DeepCopy()
	*target(p) = corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse,
		ObservedGeneration: p.Generation, LastTransitionTime: metav1.NewTime(now)}
	return p
}
