package node

import (
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Delays before a pod is deleted (gc_controller.go: quarantineTime, gcCheckPeriod).
const (
	quarantine = 40 * time.Second
	period     = 20 * time.Second
)

// OrphanedPods deletes pods that no kubelet will ever delete (K pkg/controller/podgc): those of nodes that have been
// gone for 40 seconds, those that are being deleted on nodes that are out of service, and those that are being deleted
// without ever having had a node. A pod is Failed before it is deleted, unless it has finished, so that controllers
// count it. Finalizers of pods are left to their owners. The controller records missing nodes, so each run needs its
// own.
//
// Unlike upstream's it doesn't delete finished pods when there are too many of them (--terminated-pod-gc-threshold).
func OrphanedPods() workload.Controller {
	c := &podCollector{missed: map[string]time.Time{}}
	return workload.Controller{
		Name: "pod-garbage-collector-controller", For: workload.Pods, Quiet: true,
		Awaits: "the deletion of a pod without a node",
		Sees:   []workload.Resource{workload.Nodes}, Wake: c.doomed, Decide: workload.Present(c.decide),
	}
}

// verdict is the reason why a pod is garbage.
type verdict uint8

const (
	fine       verdict = iota
	orphaned           // its node is gone
	stuck              // it is being deleted on a node that is out of service
	unassigned         // it is being deleted, and never had a node
)

func classify(r workload.Reader, node string, deleting bool) verdict {
	if node == "" {
		if deleting {
			return unassigned
		}
		return fine
	}
	switch n := workload.Get[*corev1.Node](r, "", node); {
	case n == nil:
		return orphaned
	case deleting && outOfService(n):
		return stuck
	}
	return fine
}

// outOfService reports whether the node has the taint out-of-service: it won't come back.
func outOfService(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeOutOfService
	}) &&
		!slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
}

// doomed returns the pods that a change makes garbage: the pod itself, or the pods of a deleted node.
func (c *podCollector) doomed(r workload.Reader, e workload.Change) (keys []workload.Key) {
	if e.Resource == workload.Pods {
		if e.New != nil && classify(r, e.New.Node, e.New.Deleting) != fine {
			keys = append(keys, e.New.Key)
		}
		return keys
	}
	if e.New != nil {
		c.mu.Lock()
		delete(c.missed, e.New.Name)
		c.mu.Unlock()
		if n := workload.Get[*corev1.Node](r, "", e.New.Name); n == nil || !outOfService(n) {
			return nil
		}
	}
	return workload.KeysOf(workload.All[*corev1.Pod](r, ""), func(p *corev1.Pod) bool {
		return classify(r, p.Spec.NodeName, p.DeletionTimestamp != nil) != fine
	})
}

// podCollector keeps the missing nodes between passes.
type podCollector struct {
	mu sync.Mutex
	// missed is the time since which each node is missing.
	missed map[string]time.Time
}

// missedFor is the time for which a missing node is recorded.
const missedFor = time.Hour

func (c *podCollector) decide(v workload.View, p *corev1.Pod, now time.Time) workload.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, why := now, classify(v, p.Spec.NodeName, p.DeletionTimestamp != nil)
	if why != orphaned {
		delete(c.missed, p.Spec.NodeName)
	}
	switch why {
	case fine:
		return workload.Plan{}
	case orphaned:
		maps.DeleteFunc(c.missed, func(_ string, t time.Time) bool { return now.Sub(t) > missedFor })
		if _, ok := c.missed[p.Spec.NodeName]; !ok {
			c.missed[p.Spec.NodeName] = now
		}
		at = c.missed[p.Spec.NodeName].Add(quarantine)
	case unassigned:
		if !workload.Requested(p).After(now) { // otherwise the clock was set back since then
			at = p.DeletionTimestamp.Add(period)
		}
	}
	if now.Before(at) {
		return workload.Plan{Again: at.Sub(now)}
	}
	return workload.Plan{Do: endPod(p, why, now)}
}

// endPod sets the pod to Failed and deletes it without a grace period (gc_controller.go:
// markFailedAndDeletePodWithCondition).
func endPod(p *corev1.Pod, why verdict, now time.Time) (do []workload.Action) {
	if !workload.Finished(p) {
		next := p.DeepCopy()
		next.Status.Phase, next.Status.ObservedGeneration = corev1.PodFailed, p.Generation
		if why == orphaned {
			workload.SetPodCondition(next, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists",
				LastTransitionTime: metav1.NewTime(now), ObservedGeneration: p.Generation})
		}
		do = append(do, workload.Update{Object: next, Status: true})
	}
	if p.DeletionTimestamp == nil || ptr.Deref(p.DeletionGracePeriodSeconds, 1) > 0 {
		do = append(do, workload.Delete{Object: p, Grace: new(int64)})
	}
	return do
}
