package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// candidate is a node that fits a pod.
type candidate struct {
	name string
	// avoided counts the untolerated taints with the effect PreferNoSchedule, free is the score of unused resources,
	// and pods counts the node's pods.
	avoided, free, pods int64
}

// compare orders candidates. Like kube-scheduler, it prefers nodes without taints to avoid, and with the most unused
// CPU and memory; then nodes with the fewest pods; then the first by name.
func (a candidate) compare(b candidate) int {
	return cmp.Or(cmp.Compare(a.avoided, b.avoided), cmp.Compare(b.free, a.free), cmp.Compare(a.pods, b.pods),
		strings.Compare(a.name, b.name))
}

// choose returns the node for a pod, or the reason why it fits none and the effects that may help.
func choose(places []*place, w *wants) (node string, helped effect, why string) {
	if len(places) == 0 {
		return "", 0, "no nodes available to schedule pods" // K pkg/scheduler/schedule_one.go: ErrNoNodesAvailable
	}
	var best candidate
	var reasons map[string]int
	helpful := 0
	for _, p := range places {
		c := candidate{name: p.node.Name, avoided: w.avoided(p), free: w.free(p), pods: p.pods}
		if best.name != "" && c.compare(best) > 0 {
			continue // other reasons don't matter
		}
		unfit, resolvable := w.misfits(p)
		if len(unfit) == 0 {
			best = c
			continue
		}
		if reasons == nil {
			reasons = map[string]int{}
		}
		for _, r := range unfit {
			reasons[r]++
		}
		if resolvable {
			helpful++
		}
	}
	if best.name != "" {
		return best.name, 0, ""
	}
	if helpful > 0 {
		helped = freed
	}
	if len(w.spread)+len(w.others.affinity)+len(w.others.anti) > 0 {
		helped |= moved
	}
	return "", helped, noNode(w.pod, len(places), helpful, counted(reasons))
}

// noNode returns the message for a pod that fits no node (K pkg/scheduler/framework/types.go: FitError.Error;
// framework/preemption: Preempt; plugins/dynamicresources: PostFilter). helpful is the number of nodes on which the
// eviction of other pods could help; no pod is evicted for another one.
func noNode(p *corev1.Pod, nodes, helpful int, reasons string) string {
	preemption := fmt.Sprintf("0/%d nodes are available: %s.", nodes, counted(map[string]int{
		"No preemption victims found for incoming pod": helpful,
		"Preemption is not helpful for scheduling":     nodes - helpful,
	}))
	if policy := p.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		preemption = "not eligible due to preemptionPolicy=Never."
	}
	return fmt.Sprintf("0/%d nodes are available: %s. no new claims to deallocate, preemption: %s",
		nodes, reasons, preemption)
}

// counted lists reasons with their numbers, sorted as strings.
func counted(reasons map[string]int) string {
	var list []string
	for reason, n := range reasons {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, reason))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
