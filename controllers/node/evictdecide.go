package node

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// The condition of a pod that is evicted (taint_eviction.go: addConditionAndDeletePod).
const (
	reason  = "DeletionByTaintManager"
	message = "Taint manager: deleting due to NoExecute taint"
)

// decide schedules, cancels or carries out the eviction of a pod (taint_eviction.go: handlePodUpdate,
// processPodOnNode).
func (c *controller) decide(v workload.View, now time.Time) (plan workload.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, _ := v.Object.(*corev1.Pod)
	e, pending := c.scheduled[v.Key]
	switch {
	case p != nil && deleted(p):
		delete(c.scheduled, v.Key)
		return plan
	case pending && (p == nil || p.UID != e.uid):
		plan.Notes = c.cancel(v.Key, e)
		pending = false
	}
	if p == nil || p.Spec.NodeName == "" {
		return plan
	}
	n := workload.Get[*corev1.Node](v, "", p.Spec.NodeName)
	if n != nil {
		limit := tolerated(p, n.Spec.Taints)
		if pending && !limit.some {
			plan.Notes = c.cancel(v.Key, e)
			pending = false
		}
		switch {
		case limit.forever:
			return plan
		case !pending:
			e = eviction{uid: p.UID, node: n.Name, at: now.Add(limit.wait), begun: limit.wait == 0}
			if pending = limit.some; pending {
				c.scheduled[v.Key] = e
			}
		}
	} else if !pending {
		return plan
	}
	if wait := e.at.Sub(now); wait > 0 {
		plan.Again = wait
		return plan
	}
	if e.begun = true; pending {
		c.scheduled[v.Key] = e
	}
	plan.Do = workload.Disrupt(p, corev1.PodCondition{Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(now), ObservedGeneration: p.Generation})
	plan.Notes = append(plan.Notes, note(v.Key, "Marking for deletion Pod %s"))
	return plan
}

// cancel forgets an eviction, and returns the event for that unless it has begun (cancelWorkWithEvent).
func (c *controller) cancel(key workload.Key, e eviction) []workload.Note {
	delete(c.scheduled, key)
	if e.begun {
		return nil
	}
	return []workload.Note{note(key, "Cancelling deletion of Pod %s")}
}

// note returns an event about a pod, which it refers to without its uid (emitPodDeletionEvent,
// emitCancelPodDeletionEvent).
func note(key workload.Key, format string) workload.Note {
	return workload.Note{
		About: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}},
		Event: workload.Normal("TaintManagerEviction", fmt.Sprintf(format, key)),
	}
}

// toleration is the time for which a pod tolerates the taints of its node: forever, for a time, or not at all.
type toleration struct {
	forever, some bool
	// wait is the time, if it is limited. It is 0 if a toleration in use allows no time.
	wait time.Duration
}

// tolerated finds the first toleration for each NoExecute taint, and returns the shortest time of them
// (v1/helper.GetMatchingTolerations, getMinTolerationTime). Comparisons are off by default.
func tolerated(p *corev1.Pod, taints []corev1.Taint) toleration {
	out := toleration{forever: true}
	for _, t := range taints {
		if !executes(t) {
			continue
		}
		i := slices.IndexFunc(p.Spec.Tolerations, func(by corev1.Toleration) bool {
			return by.ToleratesTaint(klog.Logger{}, &t, false)
		})
		if i < 0 {
			return toleration{}
		}
		if s := p.Spec.Tolerations[i].TolerationSeconds; s != nil {
			wait := max(0, time.Duration(*s)*time.Second)
			if out.forever || wait < out.wait {
				out = toleration{some: true, wait: wait}
			}
		}
	}
	return out
}

// deleted reports whether the controller has deleted the pod, which may still be terminating.
func deleted(p *corev1.Pod) bool {
	c := workload.PodCondition(p, corev1.DisruptionTarget)
	return p.DeletionTimestamp != nil && c != nil && c.Status == corev1.ConditionTrue && c.Reason == reason &&
		c.Message == message
}
