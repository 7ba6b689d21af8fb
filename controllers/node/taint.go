package node

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Lifecycle returns node-lifecycle-controller.
func Lifecycle() workload.Controller {
	return workload.Controller{
		Name: "node-controller", For: workload.Nodes, Wake: troubled,
		Awaits: "the rate limit of evictions",
		Decide: workload.Present(func(v workload.View, n *corev1.Node, now time.Time) workload.Plan {
			taints, changed := tainted(n, now)
			taints, too, again := executed(v, n, taints, now)
			if !changed && !too {
				return workload.Plan{Again: again}
			}
			n = n.DeepCopy()
			n.Spec.Taints = taints
			return workload.Plan{Do: []workload.Action{workload.Update{Object: n}}, Again: again}
		}),
	}
}

// troubled returns the nodes that are not ready: whether they are tainted depends on the others.
func troubled(r workload.Reader, _ workload.Change) []workload.Key {
	return workload.KeysOf(workload.All[*corev1.Node](r, ""), func(n *corev1.Node) bool {
		s, _ := ready(n)
		return s == corev1.ConditionFalse || s == corev1.ConditionUnknown
	})
}

// trouble has the taint for a condition in a certain status (node_lifecycle_controller.go:
// nodeConditionToTaintKeyStatusMap).
var trouble = []struct {
	condition corev1.NodeConditionType
	status    corev1.ConditionStatus
	key       string
}{
	{corev1.NodeReady, corev1.ConditionFalse, corev1.TaintNodeNotReady},
	{corev1.NodeReady, corev1.ConditionUnknown, corev1.TaintNodeUnreachable},
	{corev1.NodeMemoryPressure, corev1.ConditionTrue, corev1.TaintNodeMemoryPressure},
	{corev1.NodeDiskPressure, corev1.ConditionTrue, corev1.TaintNodeDiskPressure},
	{corev1.NodeNetworkUnavailable, corev1.ConditionTrue, corev1.TaintNodeNetworkUnavailable},
	{corev1.NodePIDPressure, corev1.ConditionTrue, corev1.TaintNodePIDPressure},
}

// tainted returns the node's new taints; changed is false if they are the present ones.
func tainted(n *corev1.Node, now time.Time) (out []corev1.Taint, changed bool) {
	wanted := map[string]bool{corev1.TaintNodeUnschedulable: n.Spec.Unschedulable}
	said, order := false, []string{corev1.TaintNodeUnschedulable}
	for _, t := range trouble {
		order = append(order, t.key)
		wanted[t.key] = wanted[t.key] || slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			said = said || c.Type == corev1.NodeReady
			return c.Type == t.condition && c.Status == t.status
		})
	}
	if !said {
		delete(wanted, corev1.TaintNodeNotReady)
	}
	for _, t := range n.Spec.Taints {
		if want, ours := wanted[t.Key]; t.Effect == corev1.TaintEffectNoSchedule && ours {
			wanted[t.Key] = false // it is present, or removed
			if !want {
				changed = true
				continue
			}
		}
		out = append(out, t)
	}
	for _, key := range order {
		if wanted[key] {
			at := metav1.NewTime(now)
			out, changed = append(out, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &at}), true
		}
	}
	return out, changed
}
