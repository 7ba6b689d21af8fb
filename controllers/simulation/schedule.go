package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// scheduler assigns pods to nodes.
type scheduler struct {
	// simulated reports whether all nodes have simulated kubelets.
	simulated bool
	// expected reports whether the first node is about to be created.
	expected bool
	claims   claims
}

// Scheduler assigns pods to nodes; its events have kube-scheduler's source. With simulated kubelets it ignores taints
// for conditions of nodes that are ready: the controller that removes them may not run.
func Scheduler(simulated bool, o Options) workload.Controller {
	s := &scheduler{simulated: simulated, expected: simulated && len(o.Nodes) == 0}
	return workload.Controller{
		Name: corev1.DefaultSchedulerName, For: workload.Pods, Sees: []workload.Resource{workload.Nodes}, Wake: s.wake,
		Decide: s.decide,
	}
}

// wake: a new node, or one with other labels or fewer taints, or an uncordoned one, may fit waiting pods; so may a node
// that a pod has left.
func (s *scheduler) wake(r workload.Reader, c workload.Change) (keys []workload.Key) {
	switch {
	case c.Resource == workload.Pods && c.New != nil:
		return s.claims.follow(r, c.New.Key)
	case c.Resource == workload.Pods:
		return s.claims.follow(r, c.Old.Key)
	case c.New == nil:
		return nil
	}
	if n := workload.Get[*corev1.Node](r, "", c.New.Name); n == nil || n.Spec.Unschedulable {
		return nil
	}
	for _, p := range workload.All[*corev1.Pod](r, "") {
		if p.Spec.NodeName == "" {
			keys = append(keys, workload.KeyOf(p))
		}
	}
	return keys
}

// decide assigns a pod to a node, or says why none fits.
func (s *scheduler) decide(v workload.View, now time.Time) workload.Plan {
	p, _ := v.Object.(*corev1.Pod)
	if !s.claims.startPass(v, v.Key, p) || v.Failed != nil {
		return workload.Plan{}
	}
	if p.DeletionTimestamp != nil || workload.Finished(p) || len(p.Spec.SchedulingGates) > 0 ||
		p.Spec.SchedulerName != "" && p.Spec.SchedulerName != corev1.DefaultSchedulerName {
		return workload.Plan{}
	}
	nodes := workload.All[*corev1.Node](v, "")
	if len(nodes) == 0 && s.expected {
		return workload.Plan{}
	}
	var why string
	n := s.claims.assign(v.Key, p, func(all map[string]*load) (node string, wait bool) {
		node, wait, why = s.choose(nodes, p, all)
		return node, wait
	})
	if n == "" {
		return unschedulable(p, why, now)
	}
	// K pkg/scheduler/schedule_one.go: finishBinding
	return workload.Plan{Do: []workload.Action{workload.Bind{Pod: p, Node: n, Done: workload.Normal(
		"Scheduled", fmt.Sprintf("Successfully assigned %s/%s to %s", p.Namespace, p.Name, n))}}}
}

// unschedulable sets the condition and records the event of a pod that fits no node (K pkg/scheduler/schedule_one.go:
// handleSchedulingFailure), once for each message.
func unschedulable(p *corev1.Pod, why string, now time.Time) workload.Plan {
	if c := conditionOf(p, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse && c.Message == why {
		return workload.Plan{}
	}
	p = p.DeepCopy()
	condition(p, corev1.PodScheduled, false, corev1.PodReasonUnschedulable, why, metav1.NewTime(now))
	return workload.Plan{Status: p, Events: []workload.Event{
		{Type: corev1.EventTypeWarning, Reason: "FailedScheduling", Message: why},
	}}
}

// candidate is a node that fits a pod.
type candidate struct {
	node *corev1.Node
	// avoided counts the untolerated taints with the effect PreferNoSchedule, free is the score of unused resources,
	// and pods counts the node's pods.
	avoided, free, pods int64
}

// choose returns the node for a pod, or why it fits none; wait reports whether it may fit after other pods have
// ended. Of the nodes that fit it prefers, as kube-scheduler, those without taints to avoid and with the most unused
// CPU and memory; then those with the fewest pods; then the first by name.
func (s *scheduler) choose(nodes []*corev1.Node, p *corev1.Pod, all map[string]*load) (
	node string, wait bool, why string) {
	if len(nodes) == 0 {
		return "", false, "no nodes available to schedule pods" // K pkg/scheduler/schedule_one.go: ErrNoNodesAvailable
	}
	w := wants{pod: p, affinity: nodeaffinity.GetRequiredNodeAffinity(p), named: named(p), amounts: amountsOf(p),
		ports: portsOf(p), declared: declared(nodes), lenient: s.simulated}
	var fit []candidate
	reasons, helpful := map[string]int{}, 0
	for _, n := range nodes {
		l := all[n.Name]
		if l == nil {
			l = &load{}
		}
		unfit, resolvable := w.misfits(n, l)
		for _, r := range unfit {
			reasons[r]++
		}
		switch {
		case len(unfit) == 0:
			fit = append(fit, candidate{node: n, avoided: w.avoided(n), free: w.free(n, l), pods: l.pods})
		case resolvable:
			helpful++
		}
	}
	if len(fit) == 0 {
		return "", helpful > 0, noNode(p, len(nodes), helpful, reasons)
	}
	return slices.MinFunc(fit, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.avoided, b.avoided), cmp.Compare(b.free, a.free), cmp.Compare(a.pods, b.pods),
			strings.Compare(a.node.Name, b.node.Name))
	}).node.Name, false, ""
}

// noNode is the message for a pod that fits no node (K pkg/scheduler/framework/types.go: FitError.Error;
// framework/preemption: Preempt; plugins/dynamicresources: PostFilter). helpful is the number of nodes on which the
// eviction of other pods could help; no pod is evicted for another one.
func noNode(p *corev1.Pod, nodes, helpful int, reasons map[string]int) string {
	preemption := fmt.Sprintf("0/%d nodes are available: %s.", nodes, counted(map[string]int{
		"No preemption victims found for incoming pod": helpful,
		"Preemption is not helpful for scheduling":     nodes - helpful,
	}))
	if policy := p.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		preemption = "not eligible due to preemptionPolicy=Never."
	}
	return fmt.Sprintf("0/%d nodes are available: %s. no new claims to deallocate, preemption: %s",
		nodes, counted(reasons), preemption)
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
