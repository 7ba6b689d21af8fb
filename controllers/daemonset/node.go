package daemonset

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// fit reports whether a node should have a pod, and whether a present pod may stay. spec is that of the set's pods,
// affinity that of the template (daemon_controller.go: NodeShouldRunDaemonPod).
func fit(n *corev1.Node, spec *corev1.PodSpec, affinity *corev1.Affinity) (want, keep bool) {
	if spec.NodeName != "" && spec.NodeName != n.Name || !selected(n, spec.NodeSelector, affinity) {
		return false, false
	}
	keep = workload.Tolerates(spec.Tolerations, n.Spec.Taints, corev1.TaintEffectNoExecute)
	return keep && workload.Tolerates(spec.Tolerations, n.Spec.Taints, corev1.TaintEffectNoSchedule), keep
}

// selected reports whether the node's labels and name match the template.
func selected(n *corev1.Node, selector map[string]string, affinity *corev1.Affinity) bool {
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeSelector: selector, Affinity: affinity}}
	ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(n)
	return ok && err == nil
}

// tolerant returns the tolerations of a daemon's pod: it stays on a node with problems, and is created on unschedulable
// nodes (daemon/util: AddOrUpdateDaemonPodTolerations).
func tolerant(spec *corev1.PodSpec) []corev1.Toleration {
	out := slices.Clone(spec.Tolerations)
	add := func(key string, effect corev1.TaintEffect) {
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
		if i := slices.IndexFunc(out, func(o corev1.Toleration) bool { return t.MatchToleration(&o) }); i >= 0 {
			out[i] = t
			return
		}
		out = append(out, t)
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if spec.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return out
}
