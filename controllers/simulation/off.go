package simulation

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/event"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

// The condition Ready, as this package writes it: by its message a node is known to have been simulated. It is
// turned off as node-lifecycle-controller does with a node that has gone silent (K
// pkg/controller/nodelifecycle/node_lifecycle_controller.go: tryUpdateNodeHealth), but for the message.
const (
	readyReason, readyMessage = "KubeletReady", "simulated"
	offReason, offMessage     = "NodeStatusUnknown", "the simulated kubelet has stopped: the server runs without --simulate-pods"
)

// Off says of every node that was simulated that it is not ready any more, because no kubelet is simulated now. It
// is what a server without simulation runs. Node takes that back. Pods are left as they are: nothing is lost when
// the simulation is only off for a while.
func Off() workload.Controller {
	return workload.Controller{Name: "node-controller", For: workload.Nodes, Decide: off}
}

func off(v workload.View, now time.Time) workload.Plan {
	n, _ := v.Object.(*corev1.Node)
	i := ready(n)
	if i < 0 || n.Status.Conditions[i].Status != corev1.ConditionTrue || n.Status.Conditions[i].Message != readyMessage {
		return workload.Plan{}
	}
	n = n.DeepCopy()
	c := &n.Status.Conditions[i]
	c.Status, c.Reason, c.Message, c.LastTransitionTime = corev1.ConditionUnknown, offReason, offMessage, metav1.NewTime(now)
	return workload.Plan{Status: n, Events: []event.Event{
		workload.Normal("NodeNotReady", fmt.Sprintf("Node %s status is now: NodeNotReady", n.Name))}}
}

// ready is the place of the condition Ready; -1 if there is none.
func ready(n *corev1.Node) int {
	if n == nil {
		return -1
	}
	return slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
}
