package disruption

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// component is the source of the events (NewDisruptionControllerInternal).
const component = "controllermanager"

// Scales returns the scale of a pod's controller by the scale subresource of its kind; the zero Scale if there is no
// such object.
type Scales func(ctx context.Context, namespace string, o workload.Owner) (workload.Scale, error)

// Budgets returns the part of disruption-controller that keeps the status of PodDisruptionBudgets.
func Budgets(s Scales) workload.Controller {
	return workload.Controller{Name: component, For: workload.DisruptionBudgets, Awaits: "the deletion of evicted pods",
		Sees: []workload.Resource{workload.Pods}, Wake: affected, Decide: workload.Present(s.decide)}
}

// affected returns the budgets that select a changed pod, or selected it before.
func affected(r workload.Reader, c workload.Change) []workload.Key {
	if c.Resource != workload.Pods {
		return nil
	}
	return workload.KeysOf(workload.All[*policyv1.PodDisruptionBudget](r, cmp.Or(c.New, c.Old).Namespace),
		func(b *policyv1.PodDisruptionBudget) bool {
			s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			return err == nil && (c.Old != nil && s.Matches(labels.Set(c.Old.Labels)) ||
				c.New != nil && s.Matches(labels.Set(c.New.Labels)))
		})
}

// selects reports whether the budget selects a pod with the labels. An empty selector selects every pod, an invalid one
// selects none (client-go listers/policy/v1: GetPodPodDisruptionBudgets).
func selects(b *policyv1.PodDisruptionBudget, pod labels.Set) bool {
	s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && s.Matches(pod)
}

// budgetsOf returns the budgets that select the pod.
func budgetsOf(r workload.Reader, namespace string, pod labels.Set) []*policyv1.PodDisruptionBudget {
	return slices.DeleteFunc(workload.All[*policyv1.PodDisruptionBudget](r, namespace),
		func(b *policyv1.PodDisruptionBudget) bool { return !selects(b, pod) })
}

func selected(r workload.Reader, b *policyv1.PodDisruptionBudget) (out []*corev1.Pod, err error) {
	s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(workload.All[*corev1.Pod](r, b.Namespace), func(p *corev1.Pod) bool {
		return !s.Matches(labels.Set(p.Labels))
	}), nil
}
