package daemonset

import (
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// New returns daemonset-controller. The controller records failures of pods, so each run needs its own controller.
func New() workload.Controller {
	c := &controller{remembered: map[workload.Key]failures{}}
	return workload.Controller{
		Name: "daemonset-controller", For: workload.DaemonSets,
		Awaits:   "spec.minReadySeconds, or the back-off of failed pods",
		Owns:     []workload.Resource{workload.Pods, workload.Revisions},
		Selector: func(o workload.Object) labels.Selector { return workload.Selector(o.(*appsv1.DaemonSet).Spec.Selector) },
		Sees:     []workload.Resource{workload.Nodes}, Wake: everywhere,
		Decide: c.decide,
	}
}

// everywhere returns the keys of all sets if a node has changed, because its labels and taints affect every set.
func everywhere(r workload.Reader, c workload.Change) []workload.Key {
	if c.Resource != workload.Nodes {
		return nil
	}
	return workload.KeysOf(r.All(workload.DaemonSets, ""), func(workload.Object) bool { return true })
}

// controller records the failures of pods between passes.
type controller struct {
	// mu guards remembered. The active pass over a set owns the failures of the set.
	mu         sync.Mutex
	remembered map[workload.Key]failures
}

// recall returns the failures of a set. It removes those of a deleted set.
func (c *controller) recall(key workload.Key, gone bool) failures {
	c.mu.Lock()
	defer c.mu.Unlock()
	if gone {
		delete(c.remembered, key)
		return nil
	}
	if c.remembered[key] == nil {
		c.remembered[key] = failures{}
	}
	return c.remembered[key]
}

func (c *controller) decide(v workload.View, now time.Time) workload.Plan {
	set, _ := v.Object.(*appsv1.DaemonSet)
	gone := set == nil || set.DeletionTimestamp != nil
	failed := c.recall(v.Key, gone)
	if gone {
		return workload.Plan{}
	}
	if s := set.Spec.Selector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		e := workload.Warning("SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
		return workload.Plan{Events: append([]event{}, e)}
	}
	failed.expire(now)
	return decide(&pass{View: v, set: set, now: now, failed: failed})
}

// decide returns the plan for a set (daemon_controller.go: syncDaemonSet).
func decide(s *pass) workload.Plan {
	if do := s.read(); len(do) > 0 {
		return workload.Plan{Do: do} // claimed pods are not changed again in the same pass
	}
	if plan, ok := s.revise(); !ok {
		return plan
	}
	s.manage()
	if len(s.create)+len(s.remove) == 0 && s.set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		s.renew()
	}
	s.carryOut()
	s.forget()
	s.plan.Status = s.status()
	return s.plan
}
