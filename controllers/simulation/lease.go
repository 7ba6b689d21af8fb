package simulation

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// A kubelet's lease lasts for leaseTime (K pkg/kubelet/apis/config/v1beta1/defaults.go: NodeLeaseDurationSeconds). A
// kubelet renews it after a quarter of that time. The simulation renews it later, as leases are most of the work of
// idle nodes.
const (
	leaseTime = 40 * time.Second
	renewal   = 30 * time.Second
)

// Leases renews the Lease of each simulated node in kube-node-lease. The node owns it (K pkg/kubelet/util/nodelease.go:
// SetNodeOwnerFunc).
func Leases() workload.Controller {
	return workload.Controller{Name: "kubelet", For: workload.Nodes, Decide: lease}
}

func lease(v workload.View, now time.Time) workload.Plan {
	n, _ := v.Object.(*corev1.Node)
	if i := ready(n); i < 0 || n.DeletionTimestamp != nil || n.Status.Conditions[i].Message != readyMessage {
		return workload.Plan{} // the node is gone, or not simulated
	}
	has := workload.Get[*coordinationv1.Lease](v, corev1.NamespaceNodeLease, n.Name)
	if has == nil {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Namespace: corev1.NamespaceNodeLease, Name: n.Name, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID,
			}},
		}}
		renew(l, now)
		return workload.Plan{Do: []workload.Action{workload.Create{Object: l}}, Again: renewal}
	}
	if t := has.Spec.RenewTime; t != nil {
		if left := left(t.Time, renewal, now); left > 0 {
			return workload.Plan{Again: left}
		}
	}
	has = has.DeepCopy()
	renew(has, now)
	return workload.Plan{Do: []workload.Action{workload.Update{Object: has}}, Again: renewal}
}

func renew(l *coordinationv1.Lease, now time.Time) {
	seconds, at := int32(leaseTime/time.Second), metav1.NewMicroTime(now)
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &l.Name, &seconds, &at
}
