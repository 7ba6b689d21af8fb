package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// TaintNodes is TaintNodesByCondition. It adds a taint to a new node, which keeps pods away until the node is ready (K
// plugin/pkg/admission/nodetaint).
type TaintNodes struct{}

// Admit implements Mutator.
func (TaintNodes) Admit(_ context.Context, a *Attributes) error {
	node, ok := a.Object.(*corev1.Node)
	if !ok || a.Operation != Create || a.Subresource != "" {
		return nil
	}
	taint := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
		node.Spec.Taints = append(node.Spec.Taints, taint)
	}
	return nil
}
