package node

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/node/topology"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Defaults of kube-controller-manager (pkg/controller/nodelifecycle/config/v1alpha1/defaults.go, options.go).
const (
	// settled is the time for which a node is not ready before it gets its taint: --node-monitor-period, the interval
	// at which upstream checks all nodes.
	settled = 5 * time.Second
	// pace is the time between two nodes of a zone (--node-eviction-rate). slow is that time in a large zone most of
	// whose nodes are not ready (--secondary-node-eviction-rate).
	pace, slow = 10 * time.Second, 100 * time.Second
	// A zone is disrupted if the fraction unhealthy of its nodes is not ready (--unhealthy-zone-threshold). A zone with
	// more nodes than large is large (--large-cluster-size-threshold).
	unhealthy, large = 0.55, 50
)

// excluded is the label of nodes that do not count (node_lifecycle_controller.go: labelNodeDisruptionExclusion).
const excluded = "node.kubernetes.io/exclude-disruption"

// executed returns the taints of a node, with those that evict its pods if it is not ready; again is the time until one
// may be added (node_lifecycle_controller.go: processTaintBaseEviction, doNoExecuteTaintingPass).
func executed(r workload.Reader, n *corev1.Node, taints []corev1.Taint, now time.Time) (
	out []corev1.Taint, changed bool, again time.Duration) {
	want, other := "", corev1.TaintNodeNotReady
	switch status, _ := ready(n); status {
	case corev1.ConditionTrue:
		return without(taints)
	case corev1.ConditionFalse:
		want, other = corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable
	case corev1.ConditionUnknown:
		want = corev1.TaintNodeUnreachable
	default:
		return taints, false, 0
	}
	switch every, wait := disrupted(r, n, now); {
	case every:
		return without(taints)
	case slices.ContainsFunc(taints, func(t corev1.Taint) bool { return ours(t) && t.Key == want }):
		return taints, false, 0
	case !slices.ContainsFunc(taints, func(t corev1.Taint) bool { return ours(t) && t.Key == other }) && wait != 0:
		return taints, false, max(0, wait)
	}
	out, _, _ = without(taints)
	at := metav1.NewTime(now)
	return append(out, corev1.Taint{Key: want, Effect: corev1.TaintEffectNoExecute, TimeAdded: &at}), true, 0
}

// never is the waiting time of a node that is not tainted until other nodes change.
const never = -1

// disrupted decides when a node that is not ready may be tainted: a wait of 0 means now. every reports whether no node
// at all is ready: then the network of the control plane may be the reason, and no node keeps a taint
// (node_lifecycle_controller.go: handleDisruption, ComputeZoneState).
func disrupted(r workload.Reader, n *corev1.Node, now time.Time) (every bool, wait time.Duration) {
	var cluster, near tally
	var last time.Time
	var waiting []*corev1.Node
	for _, m := range workload.All[*corev1.Node](r, "") {
		status, _ := ready(m)
		here := topology.GetZoneKey(m) == topology.GetZoneKey(n)
		if _, out := m.Labels[excluded]; !out {
			cluster.add(status)
			if here {
				near.add(status)
			}
		}
		if !here {
			continue
		}
		i := slices.IndexFunc(m.Spec.Taints, ours)
		switch {
		case i >= 0 && m.Spec.Taints[i].TimeAdded != nil && m.Spec.Taints[i].TimeAdded.After(last):
			last = m.Spec.Taints[i].TimeAdded.Time
		case i < 0 && (status == corev1.ConditionFalse || status == corev1.ConditionUnknown):
			waiting = append(waiting, m)
		}
	}
	interval := pace
	if near.bad > 2 && near.good > 0 && float64(near.bad)/float64(near.bad+near.good) >= unhealthy {
		if interval = slow; near.bad+near.good <= large {
			interval = never
		}
	}
	switch {
	case cluster.good == 0 && cluster.bad > 0:
		return true, never
	case interval == never || first(waiting) != n.Name:
		return false, never
	}
	_, since := ready(n)
	at := since.Add(settled)
	if next := last.Add(interval); next.After(at) {
		at = next
	}
	return false, max(0, at.Sub(now))
}

// tally counts nodes that are ready and others.
type tally struct{ good, bad int }

func (t *tally) add(status corev1.ConditionStatus) {
	if status == corev1.ConditionTrue {
		t.good++
	} else {
		t.bad++
	}
}

// first returns the name of the node that has been unready for the longest time. It is tainted first.
func first(waiting []*corev1.Node) string {
	if len(waiting) == 0 {
		return ""
	}
	return slices.MinFunc(waiting, func(a, b *corev1.Node) int {
		_, x := ready(a)
		_, y := ready(b)
		return cmp.Or(x.Compare(y), strings.Compare(a.Name, b.Name))
	}).Name
}

// ready returns the status of the condition Ready, empty if the node has none, and the time since which it has that
// status.
func ready(n *corev1.Node) (corev1.ConditionStatus, time.Time) {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status, c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// ours reports whether the taint is one that this controller adds to a node that is not ready.
func ours(t corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoExecute &&
		(t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable)
}

// without removes these taints (markNodeAsReachable).
func without(taints []corev1.Taint) (out []corev1.Taint, changed bool, again time.Duration) {
	out = slices.DeleteFunc(slices.Clone(taints), ours)
	return out, len(out) < len(taints), 0
}
