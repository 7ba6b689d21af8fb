package simulation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// AnnotationConditions is an annotation of nodes. It lists the problems of the node: NotReady, MemoryPressure,
// DiskPressure and PIDPressure.
const AnnotationConditions = "kubecascade.io/simulate-conditions"

// nodeCondition is a condition of a kubelet (K pkg/kubelet/nodestatus/setters.go).
type nodeCondition struct {
	of corev1.NodeConditionType
	// wrong is the value of AnnotationConditions.
	wrong         string
	healthy, sick nodeState
}

// nodeState is a state of a condition. Sick states have the message readyMessage, which identifies them.
type nodeState struct {
	status                 corev1.ConditionStatus
	reason, message, event string
}

// nodeConditions are in a kubelet's order.
var nodeConditions = []nodeCondition{
	{corev1.NodeMemoryPressure, "MemoryPressure",
		nodeState{corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available",
			"NodeHasSufficientMemory"},
		nodeState{corev1.ConditionTrue, "KubeletHasInsufficientMemory", readyMessage, "NodeHasInsufficientMemory"}},
	{corev1.NodeDiskPressure, "DiskPressure",
		nodeState{corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure"},
		nodeState{corev1.ConditionTrue, "KubeletHasDiskPressure", readyMessage, "NodeHasDiskPressure"}},
	{corev1.NodePIDPressure, "PIDPressure",
		nodeState{corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available",
			"NodeHasSufficientPID"},
		nodeState{corev1.ConditionTrue, "KubeletHasInsufficientPID", readyMessage, "NodeHasInsufficientPID"}},
	{corev1.NodeReady, "NotReady",
		nodeState{corev1.ConditionTrue, readyReason, readyMessage, "NodeReady"},
		nodeState{corev1.ConditionFalse, "KubeletNotReady", readyMessage, "NodeNotReady"}},
}

func wrongs(value string) (out []string) {
	for one := range strings.SplitSeq(value, ",") {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return out
}

// wrongConditions returns which value of AnnotationConditions is ignored; empty if none is.
func wrongConditions(value string) string {
	var valid []string
	for _, c := range nodeConditions {
		valid = append(valid, c.wrong)
	}
	for _, one := range wrongs(value) {
		if !slices.Contains(valid, one) {
			return fmt.Sprintf("unknown value %q is ignored; valid are %s", one, strings.Join(valid, ", "))
		}
	}
	return ""
}

// diagnose sets a kubelet's conditions, and returns the events of those that change. Conditions that a client has set
// are kept, unless the annotation names them.
func diagnose(n *corev1.Node, now metav1.Time) (events []workload.Event) {
	sick := wrongs(n.Annotations[AnnotationConditions])
	for _, c := range nodeConditions {
		to := c.healthy
		if slices.Contains(sick, c.wrong) {
			to = c.sick
		}
		i := slices.IndexFunc(n.Status.Conditions, func(has corev1.NodeCondition) bool { return has.Type == c.of })
		next := corev1.NodeCondition{Type: c.of, Status: to.status, Reason: to.reason, Message: to.message,
			LastHeartbeatTime: now, LastTransitionTime: now}
		switch {
		case i < 0:
			if n.Status.Conditions = append(n.Status.Conditions, next); c.of != corev1.NodeReady && to == c.healthy {
				continue
			}
		case n.Status.Conditions[i].Status == to.status && n.Status.Conditions[i].Message != offMessage,
			to == c.healthy && n.Status.Conditions[i].Message != readyMessage && n.Status.Conditions[i].Message != offMessage:
			continue
		default:
			n.Status.Conditions[i] = next
		}
		events = append(events, workload.Event{Type: corev1.EventTypeNormal, Reason: to.event, Host: n.Name,
			Message: fmt.Sprintf("Node %s status is now: %s", n.Name, to.event)})
	}
	return events
}

// pressed reports whether a condition other than Ready is wrong.
func pressed(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return strings.HasSuffix(string(c.Type), "Pressure") && c.Status == corev1.ConditionTrue
	})
}
