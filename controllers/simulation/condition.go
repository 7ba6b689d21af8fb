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

// nodeConditions has a kubelet's conditions in its order, each with the reason and the message while the node is
// healthy, and the reason while it is sick (K pkg/kubelet/nodestatus/setters.go). The reasons begin with Kubelet, and
// the events have the same names with Node. A sick condition has the message readyMessage, which identifies it.
var nodeConditions = []struct {
	of corev1.NodeConditionType
	// wrong is the value of AnnotationConditions.
	wrong, healthy, message, sick string
}{
	{corev1.NodeMemoryPressure, "MemoryPressure",
		"HasSufficientMemory", "kubelet has sufficient memory available", "HasInsufficientMemory"},
	{corev1.NodeDiskPressure, "DiskPressure", "HasNoDiskPressure", "kubelet has no disk pressure", "HasDiskPressure"},
	{corev1.NodePIDPressure, "PIDPressure",
		"HasSufficientPID", "kubelet has sufficient PID available", "HasInsufficientPID"},
	{corev1.NodeReady, "NotReady", "Ready", readyMessage, "NotReady"},
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
		is, message, healthy := c.healthy, c.message, !slices.Contains(sick, c.wrong)
		if !healthy {
			is, message = c.sick, readyMessage
		}
		next := corev1.NodeCondition{Type: c.of, Status: corev1.ConditionFalse, Reason: "Kubelet" + is, Message: message,
			LastHeartbeatTime: now, LastTransitionTime: now}
		if healthy == (c.of == corev1.NodeReady) {
			next.Status = corev1.ConditionTrue
		}
		i := slices.IndexFunc(n.Status.Conditions, func(has corev1.NodeCondition) bool { return has.Type == c.of })
		switch {
		case i < 0:
			if n.Status.Conditions = append(n.Status.Conditions, next); c.of != corev1.NodeReady && healthy {
				continue
			}
		case n.Status.Conditions[i].Status == next.Status && n.Status.Conditions[i].Message != offMessage,
			healthy && n.Status.Conditions[i].Message != readyMessage && n.Status.Conditions[i].Message != offMessage:
			continue
		default:
			n.Status.Conditions[i] = next
		}
		events = append(events, workload.Event{Type: corev1.EventTypeNormal, Reason: "Node" + is, Host: n.Name,
			Message: fmt.Sprintf("Node %s status is now: Node%s", n.Name, is)})
	}
	return events
}

// pressed reports whether a condition other than Ready is wrong.
func pressed(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return strings.HasSuffix(string(c.Type), "Pressure") && c.Status == corev1.ConditionTrue
	})
}
