package simulation

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// The condition Ready, as this package writes it: its message identifies a simulated node. Off sets it as
// node-lifecycle-controller does for a node that has stopped reporting (K
// pkg/controller/nodelifecycle/node_lifecycle_controller.go: tryUpdateNodeHealth), except for the message.
const (
	readyMessage = "simulated"
	offReason    = "NodeStatusUnknown"
	offMessage   = "the simulated kubelet has stopped: the server runs without --simulate-pods"
)

// Off sets every formerly simulated node to not ready, because no kubelet is simulated now. Servers without simulation
// run it, and Node reverses it. Pods are not changed, so nothing is lost while the simulation is off.
func Off(log *slog.Logger) workload.Controller {
	return workload.Controller{Name: "node-controller", For: workload.Nodes,
		Decide: func(v workload.View, now time.Time) workload.Plan {
			n, _ := v.Object.(*corev1.Node)
			return off(n, now, log)
		}}
}

func off(n *corev1.Node, now time.Time, log *slog.Logger) workload.Plan {
	i := ready(n)
	if i < 0 || n.Status.Conditions[i].Status != corev1.ConditionTrue || n.Status.Conditions[i].Message != readyMessage {
		return workload.Plan{}
	}
	log.Warn("--simulate-pods is off, but a simulated node exists; its condition Ready becomes Unknown",
		"node", n.Name, "hint", "start with --simulate-pods, or delete the node and its pods")
	n = n.DeepCopy()
	c := &n.Status.Conditions[i]
	c.Status, c.Reason, c.Message = corev1.ConditionUnknown, offReason, offMessage
	c.LastTransitionTime = metav1.NewTime(now)
	return workload.Plan{Status: n, Events: []workload.Event{
		workload.Normal("NodeNotReady", fmt.Sprintf("Node %s status is now: NodeNotReady", n.Name))}}
}

// ready returns the index of the condition Ready; -1 if there is none.
func ready(n *corev1.Node) int {
	if n == nil {
		return -1
	}
	return slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
}
