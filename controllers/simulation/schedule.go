package simulation

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
// that a pod has left, or one with other pods.
func (s *scheduler) wake(r workload.Reader, c workload.Change) []workload.Key {
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
	return s.claims.all()
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
	var why string
	n := s.claims.assign(v.Key, p, func(c *claims) (node string, helped effect) {
		c.survey(nodes, s.simulated)
		w := c.wants(v, p)
		node, helped, why = choose(c.places.list, w)
		return node, helped
	})
	switch {
	case n == "" && len(nodes) == 0 && s.expected:
		return workload.Plan{}
	case n == "":
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
