package simulation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// wants is what a pod needs of a node.
type wants struct {
	pod      *corev1.Pod
	affinity nodeaffinity.RequiredNodeAffinity
	// named is the only possible node; empty for all.
	named   string
	amounts amounts
	ports   []port
	// declared are the resources that some node declares. Others are ignored.
	declared map[corev1.ResourceName]bool
	// lenient ignores taints for conditions of nodes that are ready.
	lenient bool
}

// declared are the resources that some node declares.
func declared(nodes []*corev1.Node) map[corev1.ResourceName]bool {
	out := map[corev1.ResourceName]bool{}
	for _, n := range nodes {
		for name := range n.Status.Allocatable {
			out[name] = true
		}
	}
	return out
}

// misfits are the reasons of the first plugin that rejects a node, in the order of the default ones: NodeUnschedulable,
// TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit (K pkg/scheduler/apis/config/v1/default_plugins.go; the
// words: pkg/scheduler/framework/plugins). resolvable reports whether the end of other pods could help.
func (w *wants) misfits(n *corev1.Node, l *load) (reasons []string, resolvable bool) {
	cordoned := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	switch {
	case w.named != "" && w.named != n.Name: // (K pkg/scheduler/schedule_one.go: findNodesThatFitPod)
		return []string{"node(s) didn't satisfy plugin(s) [NodeAffinity]"}, false
	case n.Spec.Unschedulable && !workload.Tolerates(w.pod.Spec.Tolerations, cordoned, corev1.TaintEffectNoSchedule):
		return []string{"node(s) were unschedulable"}, false
	case !w.admitted(n):
		return []string{"node(s) had untolerated taint(s)"}, false
	}
	// An affinity that can't be parsed is rejected by validation.
	if ok, err := w.affinity.Match(n); err != nil || !ok {
		return []string{"node(s) didn't match Pod's node affinity/selector"}, false
	}
	if l.occupied(w.ports) {
		return []string{"node(s) didn't have free ports for the requested pod ports"}, true
	}
	return w.lacks(n, l)
}

// lacks are the resources that a node has not enough of. More than the node has is not resolvable (K
// pkg/scheduler/framework/plugins/noderesources/fit.go: fitsRequest).
func (w *wants) lacks(n *corev1.Node, l *load) (reasons []string, resolvable bool) {
	resolvable = true
	if q, ok := n.Status.Allocatable[corev1.ResourcePods]; ok && l.pods+1 > q.Value() {
		reasons = append(reasons, "Too many pods")
	}
	for name, want := range w.amounts {
		if want == 0 || !w.declared[name] {
			continue
		}
		has := amount(name, n.Status.Allocatable[name])
		if want > has-l.amounts[name] {
			reasons = append(reasons, "Insufficient "+string(name))
			resolvable = resolvable && want <= has
		}
	}
	return reasons, resolvable
}

// admitted reports whether the pod tolerates the node's taints.
func (w *wants) admitted(n *corev1.Node) bool {
	taints := n.Spec.Taints
	if i := ready(n); w.lenient && (i < 0 || n.Status.Conditions[i].Status == corev1.ConditionTrue) {
		taints = slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool {
			return strings.HasPrefix(t.Key, "node.kubernetes.io/")
		})
	}
	return workload.Tolerates(w.pod.Spec.Tolerations, taints, corev1.TaintEffectNoSchedule) &&
		workload.Tolerates(w.pod.Spec.Tolerations, taints, corev1.TaintEffectNoExecute)
}

// avoided counts the untolerated taints with the effect PreferNoSchedule.
func (w *wants) avoided(n *corev1.Node) (out int64) {
	for i := range n.Spec.Taints {
		if !workload.Tolerates(w.pod.Spec.Tolerations, n.Spec.Taints[i:i+1], corev1.TaintEffectPreferNoSchedule) {
			out++
		}
	}
	return out
}

// free is the share of CPU and memory, in percent of each, that would remain (K
// pkg/scheduler/framework/plugins/noderesources/least_allocated.go: leastResourceScorer).
func (w *wants) free(n *corev1.Node, l *load) (out int64) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if has := amount(name, n.Status.Allocatable[name]); has > 0 {
			out += int64(float64(has-l.amounts[name]-w.amounts[name]) * 100 / float64(has))
		}
	}
	return out
}

// named is the node that a pod's required affinity names, as for DaemonSets' pods.
func named(p *corev1.Pod) string {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range t.MatchFields {
			if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}
