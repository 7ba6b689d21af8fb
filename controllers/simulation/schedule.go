package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podresource "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubecascade/kubecascade/controllers/event"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Scheduler simulates the scheduler. Its events have kube-scheduler's source.
func Scheduler() workload.Controller {
	return workload.Controller{
		Name: corev1.DefaultSchedulerName, For: workload.Pods, Sees: []workload.Resource{workload.Nodes}, Wake: wake,
		Decide: func(v workload.View, now time.Time) workload.Plan {
			if v.Object == nil {
				return workload.Plan{}
			}
			return schedule(v, v.Object.(*corev1.Pod), now)
		},
	}
}

// wake: a new node, or one with other labels or fewer taints, or an uncordoned one, may fit waiting pods.
func wake(r workload.Reader, c workload.Change) (keys []workload.Key) {
	if c.Resource != workload.Nodes || c.New == nil {
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

// schedule assigns a pod to a node, or says why none fits.
func schedule(v workload.Reader, p *corev1.Pod, now time.Time) workload.Plan {
	if p.Spec.NodeName != "" || p.DeletionTimestamp != nil || workload.Finished(p) || len(p.Spec.SchedulingGates) > 0 ||
		p.Spec.SchedulerName != "" && p.Spec.SchedulerName != corev1.DefaultSchedulerName {
		return workload.Plan{}
	}
	n, why := choose(workload.All[*corev1.Node](v, ""), p)
	switch {
	case n != "":
		return workload.Plan{Do: []workload.Action{workload.Bind{Pod: p, Node: n}}}
	case why == "":
		return workload.Plan{} // the node is about to be created
	}
	return unschedulable(p, why, now)
}

// unschedulable sets the condition and records the event of a pod that fits no node (K pkg/scheduler/schedule_one.go:
// handleSchedulingFailure), once for each message.
func unschedulable(p *corev1.Pod, why string, now time.Time) workload.Plan {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message == why {
			return workload.Plan{}
		}
	}
	p = p.DeepCopy()
	condition(p, corev1.PodScheduled, false, corev1.PodReasonUnschedulable, metav1.NewTime(now))
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodScheduled {
			c.Message = why
		}
	}
	return workload.Plan{Status: p, Events: []event.Event{
		{Type: corev1.EventTypeWarning, Reason: "FailedScheduling", Message: why},
	}}
}

// choose returns the node for a pod, or why it fits none. Both are empty if there are no nodes.
func choose(nodes []*corev1.Node, p *corev1.Pod) (node, why string) {
	if len(nodes) == 0 {
		return "", ""
	}
	name := named(p)
	affinity := nodeaffinity.GetRequiredNodeAffinity(p)
	requests := podresource.PodRequests(p, podresource.PodResourcesOptions{})
	var fit []string
	reasons := map[string]int{}
	for _, n := range nodes {
		switch {
		case name == n.Name:
			return name, ""
		case name != "": // (K pkg/scheduler/schedule_one.go: findNodesThatFitPod, of a PreFilterResult)
			reasons["node(s) didn't satisfy plugin(s) [NodeAffinity]"]++
		default:
			unfit := misfits(n, p, affinity, requests)
			if len(unfit) == 0 {
				fit = append(fit, n.Name)
			}
			for _, r := range unfit {
				reasons[r]++
			}
		}
	}
	if len(fit) == 0 {
		return "", noNode(len(nodes), reasons)
	}
	return fit[number(p)%uint32(len(fit))], ""
}

// misfits are the reasons of the first plugin that rejects a node, in the order of the default ones:
// NodeUnschedulable, TaintToleration, NodeAffinity, NodeResourcesFit (K
// pkg/scheduler/apis/config/v1/default_plugins.go; the words: pkg/scheduler/framework/plugins).
func misfits(
	n *corev1.Node, p *corev1.Pod, affinity nodeaffinity.RequiredNodeAffinity, requests corev1.ResourceList,
) []string {
	cordoned := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	if n.Spec.Unschedulable && !workload.Tolerates(p.Spec.Tolerations, cordoned, corev1.TaintEffectNoSchedule) {
		return []string{"node(s) were unschedulable"}
	}
	if !admits(n, p) {
		return []string{"node(s) had untolerated taint(s)"}
	}
	// An affinity that can't be parsed is rejected by validation.
	if ok, err := affinity.Match(n); err != nil || !ok {
		return []string{"node(s) didn't match Pod's node affinity/selector"}
	}
	var reasons []string
	for resource, q := range requests {
		if has, ok := n.Status.Allocatable[resource]; ok && q.Cmp(has) > 0 {
			reasons = append(reasons, "Insufficient "+string(resource))
		}
	}
	return reasons
}

// noNode is the message for a pod that no eviction of other pods would help (K pkg/scheduler/framework/types.go:
// FitError.Error; framework/preemption: Preempt; plugins/dynamicresources: PostFilter).
func noNode(nodes int, reasons map[string]int) string {
	var counted []string
	for reason, n := range reasons {
		counted = append(counted, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(counted)
	return fmt.Sprintf("0/%d nodes are available: %s. no new claims to deallocate, preemption: "+
		"0/%d nodes are available: %d Preemption is not helpful for scheduling.",
		nodes, strings.Join(counted, ", "), nodes, nodes)
}
