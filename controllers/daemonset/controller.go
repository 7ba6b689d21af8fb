package daemonset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// New returns daemonset-controller. The controller records failures of pods, so each run needs its own controller.
func New() workload.Controller {
	failed := &failures{}
	return workload.Controller{
		Name: "daemonset-controller", For: workload.DaemonSets,
		Awaits:   "spec.minReadySeconds, or the back-off of failed pods",
		Owns:     []workload.Resource{workload.Pods, workload.Revisions},
		Selector: func(o workload.Object) labels.Selector { return workload.Selector(o.(*appsv1.DaemonSet).Spec.Selector) },
		Sees:     []workload.Resource{workload.Nodes}, Wake: everywhere,
		Decide: workload.Present(func(v workload.View, set *appsv1.DaemonSet, now time.Time) workload.Plan {
			failed.expire(now)
			return decide(&pass{View: v, set: set, now: now, failed: failed})
		}),
	}
}

// everywhere returns the keys of all sets if a node has changed, because its labels and taints affect every set.
func everywhere(r workload.Reader, c workload.Change) []workload.Key {
	if c.Resource != workload.Nodes {
		return nil
	}
	return workload.KeysOf(r.All(workload.DaemonSets, ""), func(workload.Object) bool { return true })
}

// decide returns the plan for a set (daemon_controller.go: syncDaemonSet).
func decide(s *pass) workload.Plan {
	if s.set.DeletionTimestamp != nil {
		return workload.Plan{}
	}
	if s := s.set.Spec.Selector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return workload.Plan{Events: []event{workload.Warning("SelectingAll",
			"This daemon set is selecting all pods. A non-empty selector is required.")}}
	}
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
