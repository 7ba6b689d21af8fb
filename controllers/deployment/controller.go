package deployment

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// New returns deployment-controller.
func New() workload.Controller {
	return workload.Controller{
		Name: "deployment-controller", For: workload.Deployments, Owns: []workload.Resource{workload.ReplicaSets},
		Awaits: "spec.progressDeadlineSeconds",
		Selector: func(o workload.Object) labels.Selector {
			return workload.Selector(o.(*appsv1.Deployment).Spec.Selector)
		},
		Sees: []workload.Resource{workload.Pods}, Wake: wake, Decide: workload.Present(decide),
	}
}

// wake returns a deployment with the strategy Recreate after the deletion of a pod: it waits until its old pods are
// gone.
func wake(r workload.Reader, c workload.Change) []workload.Key {
	if c.Resource != workload.Pods || c.New != nil || !c.Old.Controller.Is(workload.ReplicaSets) {
		return nil
	}
	rs := workload.Get[*appsv1.ReplicaSet](r, c.Old.Namespace, c.Old.Controller.Name)
	if rs == nil {
		return nil
	}
	owner := metav1.GetControllerOf(rs)
	if owner == nil || owner.Kind != workload.Deployments.Kind {
		return nil
	}
	d := workload.Get[*appsv1.Deployment](r, rs.Namespace, owner.Name)
	if d == nil || d.UID != owner.UID || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		return nil
	}
	return []workload.Key{workload.KeyOf(d)}
}

// decide decides what to do about a deployment (syncDeployment).
func decide(v workload.View, d *appsv1.Deployment, now time.Time) workload.Plan {
	mine, claims := workload.Claim(d, workload.Claiming{Selector: workload.Selector(d.Spec.Selector)},
		workload.Controlled[*appsv1.ReplicaSet](v, d.UID), workload.Free[*appsv1.ReplicaSet](v, d.Namespace))
	if len(claims) > 0 {
		return workload.Plan{Do: claims} // the next pass reads the adopted ones
	}
	s := newState(v, d, mine, now)
	switch {
	case d.DeletionTimestamp != nil:
		s.count()
	case s.failed():
	case s.pause(), s.resized():
		s.adjust()
	case d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType:
		s.recreate()
	default:
		s.roll()
	}
	return s.plan()
}
