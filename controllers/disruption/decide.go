package disruption

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// deletionTimeout is the time within which the deletion of an evicted pod must begin (disruption.go: DeletionTimeout).
const deletionTimeout = 2 * time.Minute

// decide makes the new status of a budget (trySync). It reads the scales of controllers that the view does not have.
func (s Scales) decide(v workload.View, b *policyv1.PodDisruptionBudget, now time.Time) workload.Plan {
	pods, err := selected(v, b)
	if err != nil {
		return failed(b, err, now, workload.Warning("NoPods", fmt.Sprintf("Failed to get pods: %v", err)))
	}
	if counted(b) {
		return report(b, pods, nil, now)
	}
	known, unknown := scalesOf(v, pods)
	if len(unknown) == 0 {
		return report(b, pods, known, now)
	}
	return workload.Plan{Slow: func(ctx context.Context) workload.Plan {
		for _, o := range unknown {
			got, err := s(ctx, b.Namespace, o)
			if got.UID != o.UID {
				got = workload.Scale{} // another object has the name
			}
			known[o] = scale{got, err}
		}
		return report(b, pods, known, now)
	}}
}

// report plans the status of a budget with the scales of its pods' controllers.
func report(
	b *policyv1.PodDisruptionBudget, pods []*corev1.Pod, scales map[workload.Owner]scale, now time.Time,
) (plan workload.Plan) {
	if len(pods) == 0 {
		plan.Events = append(plan.Events, workload.Normal("NoPods", "No matching pods found"))
	}
	d, err := demandOf(b, pods, scales)
	switch {
	case err != nil:
		return failed(b, err, now, append(plan.Events, workload.Warning("CalculateExpectedPodCountFailed",
			fmt.Sprintf("Failed to calculate the number of expected pods: %v", err)))...)
	case d.unmanaged:
		plan.Events = append(plan.Events, unmanaged(b))
	}
	next := b.DeepCopy()
	next.Status = policyv1.PodDisruptionBudgetStatus{
		DesiredHealthy: d.desired, ExpectedPods: d.expected, ObservedGeneration: b.Generation,
		Conditions: next.Status.Conditions,
	}
	next.Status.DisruptedPods, plan.Again, plan.Notes = awaited(b, pods, now)
	next.Status.CurrentHealthy = healthy(pods, next.Status.DisruptedPods)
	// A budget that selects no pods yet is safe when the first ones appear (updatePdbStatus).
	if d.expected > 0 {
		next.Status.DisruptionsAllowed = max(0, next.Status.CurrentHealthy-d.desired)
	}
	setAllowed(&next.Status, now)
	plan.Status = changed(b, next)
	return plan
}

// changed returns the budget with its new status, nil if that is the stored one.
func changed(b, next *policyv1.PodDisruptionBudget) workload.Object {
	if equality.Semantic.DeepEqual(b.Status, next.Status) {
		return nil
	}
	return next
}

// failed allows no disruption, as the numbers can't be trusted (failSafe). The numbers stay as they are.
func failed(b *policyv1.PodDisruptionBudget, err error, now time.Time, events ...workload.Event) workload.Plan {
	next := b.DeepCopy()
	next.Status.DisruptionsAllowed = 0
	meta.SetStatusCondition(&next.Status.Conditions, metav1.Condition{Type: policyv1.DisruptionAllowedCondition,
		Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: err.Error(),
		ObservedGeneration: next.Status.ObservedGeneration, LastTransitionTime: metav1.NewTime(now)})
	return workload.Plan{Status: changed(b, next), Events: events}
}

// unmanaged warns that the budget selects pods without a controller.
func unmanaged(b *policyv1.PodDisruptionBudget) workload.Event {
	return workload.Warning("UnmanagedPods", fmt.Sprintf("Pods selected by this PodDisruptionBudget (selector: %v) were "+
		"found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in "+
		"undefined behavior. To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer "+
		"value.", b.Spec.Selector))
}

// setAllowed sets the condition DisruptionAllowed by the number of allowed disruptions (k8s.io/component-helpers
// apps/poddisruptionbudget: UpdateDisruptionAllowedCondition, whose time is not an argument).
func setAllowed(s *policyv1.PodDisruptionBudgetStatus, now time.Time) {
	c := metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
		Reason: policyv1.InsufficientPodsReason, ObservedGeneration: s.ObservedGeneration,
		LastTransitionTime: metav1.NewTime(now)}
	if s.DisruptionsAllowed > 0 {
		c.Status, c.Reason = metav1.ConditionTrue, policyv1.SufficientPodsReason
	}
	meta.SetStatusCondition(&s.Conditions, c)
}

// awaited returns the evicted pods whose deletion is still expected, the time until the first of them is late, and an
// event about each pod that is late now (buildDisruptedPodMap).
func awaited(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod, now time.Time) (
	out map[string]metav1.Time, again time.Duration, late []workload.Note) {
	out = map[string]metav1.Time{}
	for _, p := range pods {
		since, evicted := b.Status.DisruptedPods[p.Name]
		if !evicted || p.DeletionTimestamp != nil {
			continue
		}
		wait := since.Add(deletionTimeout).Sub(now)
		if wait <= 0 {
			// Upstream's message has the namespace in place of the name.
			late = append(late, workload.Note{About: p, Event: workload.Warning("NotDeleted",
				fmt.Sprintf("Pod was expected by PDB %s/%s to be deleted but it wasn't", b.Namespace, b.Namespace))})
			continue
		}
		out[p.Name] = since
		if again == 0 || wait < again {
			again = wait
		}
	}
	return out, again, late
}

// healthy counts the ready pods that stay (countHealthyPods).
func healthy(pods []*corev1.Pod, evicted map[string]metav1.Time) (n int32) {
	for _, p := range pods {
		if _, leaves := evicted[p.Name]; leaves || p.DeletionTimestamp != nil {
			continue
		}
		if workload.IsReady(p) {
			n++
		}
	}
	return n
}
