package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// NodeTaint is TaintNodesByCondition: a node is born with a taint that keeps pods away until it is known to be
// ready (K plugin/pkg/admission/nodetaint). To take it off is up to the node lifecycle controller.
type NodeTaint struct{}

// Name implements Plugin.
func (NodeTaint) Name() string { return "TaintNodesByCondition" }

// Admit implements Mutator.
func (NodeTaint) Admit(_ context.Context, a *Attributes) error {
	n, ok := a.Object.(*corev1.Node)
	if !ok || a.Operation != Create || a.Subresource != "" {
		return nil
	}
	notReady := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&notReady) }) {
		n.Spec.Taints = append(n.Spec.Taints, notReady)
	}
	return nil
}
