package replicaset

import (
	"cmp"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// set has the common fields of the two kinds.
type set struct {
	workload.Object
	replicas int
	selector labels.Selector
	template *corev1.PodTemplateSpec
	// minReady is in seconds.
	minReady int32
	status   appsv1.ReplicaSetStatus
	// silent reports whether the kind's status has no field for terminating replicas.
	silent bool
	// with returns a copy of the object with another status.
	with func(appsv1.ReplicaSetStatus) workload.Object
}

// New returns replicaset-controller.
func New() workload.Controller {
	return controller("replicaset-controller", workload.ReplicaSets, func(o workload.Object) set {
		rs := o.(*appsv1.ReplicaSet)
		return set{
			Object: rs, replicas: int(ptr.Deref(rs.Spec.Replicas, 1)), selector: workload.Selector(rs.Spec.Selector),
			template: &rs.Spec.Template,
			minReady: rs.Spec.MinReadySeconds, status: rs.Status,
			with: func(s appsv1.ReplicaSetStatus) workload.Object {
				rs := rs.DeepCopy()
				rs.Status = s
				return rs
			},
		}
	})
}

// NewReplication returns replicationcontroller-controller.
func NewReplication() workload.Controller {
	return controller("replication-controller", workload.ReplicationControllers, func(o workload.Object) set {
		rc := o.(*corev1.ReplicationController)
		template := cmp.Or(rc.Spec.Template, &corev1.PodTemplateSpec{})
		return set{
			Object: rc, replicas: int(ptr.Deref(rc.Spec.Replicas, 1)),
			selector: workload.Selector(&metav1.LabelSelector{MatchLabels: rc.Spec.Selector}),
			template: template, minReady: rc.Spec.MinReadySeconds, status: general(&rc.Status), silent: true,
			with: func(s appsv1.ReplicaSetStatus) workload.Object {
				rc := rc.DeepCopy()
				rc.Status = particular(s)
				return rc
			},
		}
	})
}

func controller(name string, r workload.Resource, read func(workload.Object) set) workload.Controller {
	return workload.Controller{
		Name: name, For: r, Owns: []workload.Resource{workload.Pods},
		Awaits:   "spec.minReadySeconds",
		Selector: func(o workload.Object) labels.Selector { return read(o).selector },
		Decide: workload.Present(func(v workload.View, o workload.Object, now time.Time) workload.Plan {
			return decide(v, read(o), now)
		}),
	}
}

// general converts a ReplicationController's status to a ReplicaSet's (K pkg/controller/replication/conversion.go).
func general(s *corev1.ReplicationControllerStatus) appsv1.ReplicaSetStatus {
	out := appsv1.ReplicaSetStatus{Replicas: s.Replicas, FullyLabeledReplicas: s.FullyLabeledReplicas,
		ReadyReplicas:     s.ReadyReplicas,
		AvailableReplicas: s.AvailableReplicas, ObservedGeneration: s.ObservedGeneration}
	for _, c := range s.Conditions {
		out.Conditions = append(out.Conditions, appsv1.ReplicaSetCondition{Type: appsv1.ReplicaSetConditionType(c.Type),
			Status:             c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message})
	}
	return out
}

// particular returns the reverse conversion.
func particular(s appsv1.ReplicaSetStatus) corev1.ReplicationControllerStatus {
	out := corev1.ReplicationControllerStatus{Replicas: s.Replicas, FullyLabeledReplicas: s.FullyLabeledReplicas,
		ReadyReplicas:     s.ReadyReplicas,
		AvailableReplicas: s.AvailableReplicas, ObservedGeneration: s.ObservedGeneration}
	for _, c := range s.Conditions {
		out.Conditions = append(out.Conditions,
			corev1.ReplicationControllerCondition{Type: corev1.ReplicationControllerConditionType(
				c.Type,
			),
				Status: c.Status, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message})
	}
	return out
}
