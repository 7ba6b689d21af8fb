package simulation

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

type scheduler struct {
	Options
	// simulated reports whether all nodes have simulated kubelets.
	simulated bool
	// expected reports whether the first node is about to be created.
	expected bool
	claims   claims
}

// Scheduler assigns pods to nodes; its events have kube-scheduler's source. With simulated kubelets it ignores taints
// for conditions of nodes that are ready: the controller that removes them may not run.
func Scheduler(simulated bool, o Options) workload.Controller {
	s := &scheduler{Options: o, simulated: simulated, expected: simulated && len(o.Nodes) == 0}
	c := workload.Controller{
		Name: corev1.DefaultSchedulerName, For: workload.Pods, Quiet: true, Sees: []workload.Resource{workload.Nodes},
		Wake: s.wake, Decide: s.decide,
	}
	if o.Volumes != nil {
		c.Sees = append(c.Sees, workload.Claims, workload.Volumes, workload.StorageClasses)
	}
	return c
}

// wake returns a changed pod without a node, and waiting pods that a change may help. Any change of a node may help,
// as spread and affinity also count nodes that don't fit; and so may a pod that leaves a node or is assigned to one.
// Pods with claims also wait for changes of claims, volumes and classes.
func (s *scheduler) wake(r workload.Reader, c workload.Change) (keys []workload.Key) {
	switch of := cmp.Or(c.New, c.Old); c.Resource {
	case workload.Claims:
		for _, p := range r.PodsMounting(of.Key) {
			if p.Spec.NodeName == "" {
				keys = append(keys, workload.KeyOf(p))
			}
		}
		return keys
	case workload.Volumes, workload.StorageClasses:
		return s.claims.waitFor(stored)
	case workload.Pods:
		if keys = s.claims.follow(r, of.Key, c.New); c.New != nil && c.New.Node == "" {
			keys = append(keys, of.Key)
		}
		return keys
	}
	return s.claims.all()
}

// decide assigns a pod to a node, or reports why none fits.
func (s *scheduler) decide(v workload.View, now time.Time) workload.Plan {
	p, _ := v.Object.(*corev1.Pod)
	if !s.claims.startPass(v, v.Key, p, v.Failed != nil) || v.Failed != nil {
		return workload.Plan{}
	}
	if p.DeletionTimestamp != nil || workload.Finished(p) || len(p.Spec.SchedulingGates) > 0 ||
		p.Spec.SchedulerName != "" && p.Spec.SchedulerName != corev1.DefaultSchedulerName {
		return workload.Plan{}
	}
	nodes := workload.All[*corev1.Node](v, "")
	var why string
	var binding *workload.Plan
	n := s.claims.assign(v.Key, p, func(c *claims) (node string, helped effect) {
		c.survey(nodes, s.simulated)
		node, helped, why, binding = s.place(v, p, c)
		return node, helped
	})
	switch {
	case binding != nil:
		return *binding
	case n == "" && len(nodes) == 0 && s.expected:
		return workload.Plan{}
	case n == "":
		return unschedulable(p, why, now)
	}
	// K pkg/scheduler/schedule_one.go: finishBinding
	return workload.Plan{Do: []workload.Action{workload.Bind{Pod: p, Node: n, Done: workload.Normal(
		"Scheduled", fmt.Sprintf("Successfully assigned %s/%s to %s", p.Namespace, p.Name, n))}}}
}

// place returns the node for a pod, or the reason why there is none and the effects that may help. If the pod's
// PersistentVolumeClaims must first be bound for the node, binding is the plan for that; the pod already has its place
// on the node.
func (s *scheduler) place(r workload.Reader, p *corev1.Pod, c *claims) (
	node string, helped effect, why string, binding *workload.Plan) {
	w := c.wants(r, p)
	var bind func(*corev1.Node) ([]workload.Action, bool)
	if s.Volumes != nil {
		why, w.volumes, bind = s.Volumes(r, p, c.assigned)
	}
	if why != "" && len(c.places.list) > 0 {
		return "", stored, noNode(p, len(c.places.list), 0, why), nil
	}
	node, helped, why = choose(c.places.list, w)
	if w.volumes == nil {
		return node, helped, why, nil
	}
	if node != "" {
		if do, ready := bind(c.places.named[node].node); !ready {
			binding = &workload.Plan{Do: do}
		}
	}
	return node, helped | stored | freed, why, binding // a PersistentVolumeClaim may be for one pod at a time
}

// unschedulable sets the condition and records the event of a pod that fits no node (K pkg/scheduler/schedule_one.go:
// handleSchedulingFailure), once for each message.
func unschedulable(p *corev1.Pod, why string, now time.Time) workload.Plan {
	c := workload.PodCondition(p, corev1.PodScheduled)
	if c != nil && c.Status == corev1.ConditionFalse && c.Message == why {
		return workload.Plan{}
	}
	p = p.DeepCopy()
	condition(p, corev1.PodScheduled, false, corev1.PodReasonUnschedulable, why, metav1.NewTime(now))
	return workload.Plan{Status: p, Events: []workload.Event{
		{Type: corev1.EventTypeWarning, Reason: "FailedScheduling", Message: why},
	}}
}
