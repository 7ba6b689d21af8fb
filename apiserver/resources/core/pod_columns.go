package core

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func podTable() entry.Table {
	t := entry.TableOf(podColumns(), podCells)
	t.Conditions = func(obj runtime.Object) []metav1.TableRowCondition {
		return podConditions(entry.As[*corev1.Pod](obj))
	}
	return t
}

func podColumns() []entry.Column {
	spec, status := corev1.PodSpec{}.SwaggerDoc(), corev1.PodStatus{}.SwaggerDoc()
	return []entry.Column{
		entry.NameColumn,
		entry.Text("Ready", "The aggregate readiness state of this pod for accepting traffic."),
		entry.Text("Status", "The aggregate status of the containers in this pod."),
		entry.Text(
			"Restarts",
			"The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
		),
		entry.AgeColumn,
		entry.Wide(entry.Text("IP", status["podIP"])),
		entry.Wide(entry.Text("Node", spec["nodeName"])),
		entry.Wide(entry.Text("Nominated Node", status["nominatedNodeName"])),
		entry.Wide(entry.Text("Readiness Gates", spec["readinessGates"])),
	}
}

func podCells(p *corev1.Pod, now time.Time) []any {
	s := containerSummary(p)
	return []any{
		p.Name,
		fmt.Sprintf("%d/%d", s.ready, s.total),
		s.reason,
		s.restarts.text(now),
		entry.AgeOf(&p.ObjectMeta, now),
		entry.StringOr(podIP(p), entry.None),
		entry.StringOr(p.Spec.NodeName, entry.None),
		entry.StringOr(p.Status.NominatedNodeName, entry.None),
		readinessGates(p),
	}
}

// podIP returns status.podIP, or the first of podIPs if it is empty, as upstream's conversion does
// (Convert_v1_PodStatus_To_core_PodStatus).
func podIP(p *corev1.Pod) string {
	if p.Status.PodIP == "" && len(p.Status.PodIPs) > 0 {
		return p.Status.PodIPs[0].IP
	}
	return p.Status.PodIP
}

func readinessGates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return entry.None
	}
	met := 0
	for _, g := range p.Spec.ReadinessGates {
		if podCondition(p, g.ConditionType) {
			met++
		}
	}
	return fmt.Sprintf("%d/%d", met, len(p.Spec.ReadinessGates))
}

// podCondition reports whether the condition of that type is True.
func podCondition(p *corev1.Pod, t corev1.PodConditionType) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == t {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// podConditions returns the condition Completed for the row of a finished pod. Clients can hide such rows.
func podConditions(p *corev1.Pod) []metav1.TableRowCondition {
	message := ""
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		message = "The pod has completed successfully."
	case corev1.PodFailed:
		message = "The pod failed."
	default:
		return nil
	}
	return []metav1.TableRowCondition{{
		Type:    metav1.RowCompleted,
		Status:  metav1.ConditionTrue,
		Reason:  string(p.Status.Phase),
		Message: message,
	}}
}

// nodeLost is the status.reason of pods on an unreachable node (NodeUnreachablePodReason).
const nodeLost = "NodeLost"

// summary has the values of the columns READY, STATUS and RESTARTS. ready <= total.
type summary struct {
	reason       string
	ready, total int
	restarts     tally
}

// initialize processes the init containers up to the first that has not finished. It returns the restarts of the
// sidecars among them, and whether all have finished. A started sidecar counts as finished.
func (s *summary) initialize(p *corev1.Pod, sidecars map[string]bool) (restarts tally, done bool) {
	for i := range p.Status.InitContainerStatuses {
		c := &p.Status.InitContainerStatuses[i]
		s.restarts.add(c)
		if sidecars[c.Name] {
			restarts.add(c)
		}
		switch ended, waiting := c.State.Terminated, c.State.Waiting; {
		case ended != nil && ended.ExitCode == 0:
			continue
		case sidecars[c.Name] && entry.ValueOr(c.Started, false):
			if c.Ready {
				s.ready++
			}
			continue
		case ended != nil:
			s.reason = "Init:" + endReason(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			s.reason = "Init:" + waiting.Reason
		default:
			s.reason = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		return restarts, false
	}
	return restarts, true
}

// run processes the containers from the last to the first, so that the reason of the first one applies.
func (s *summary) run(p *corev1.Pod) {
	running, failure := false, ""
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &p.Status.ContainerStatuses[i]
		s.restarts.add(c)
		switch ended, waiting := c.State.Terminated, c.State.Waiting; {
		case waiting != nil && waiting.Reason != "":
			s.reason = waiting.Reason
		case ended != nil:
			s.reason = endReason(ended)
			if ended.ExitCode != 0 {
				failure = s.reason
			}
		case c.Ready && c.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.reason != "Completed" {
		return
	}
	switch {
	case running && podCondition(p, corev1.PodReady):
		s.reason = "Running"
	case failure != "":
		s.reason = failure
	case running:
		s.reason = "NotReady"
	}
}

// containerSummary applies these stages in order: the pod's own reason, its init containers, its containers, its
// deletion. Each stage overrides the results of earlier ones.
func containerSummary(p *corev1.Pod) summary {
	sidecars := sidecarNames(p)
	s := summary{reason: podReason(p), total: len(p.Spec.Containers) + len(sidecars)}
	restarts, done := s.initialize(p, sidecars)
	if done || podCondition(p, corev1.PodInitialized) {
		// Restarts of completed init containers no longer count; those of sidecars do.
		s.restarts = restarts
		s.run(p)
	}
	switch {
	case p.DeletionTimestamp == nil:
	case p.Status.Reason == nodeLost:
		s.reason = "Unknown"
	case p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed:
		s.reason = "Terminating"
	}
	return s
}

func sidecarNames(p *corev1.Pod) map[string]bool {
	names := map[string]bool{}
	for _, c := range p.Spec.InitContainers {
		if entry.ValueOr(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
			names[c.Name] = true
		}
	}
	return names
}

func podReason(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			return c.Reason
		}
	}
	return entry.StringOr(p.Status.Reason, string(p.Status.Phase))
}

func endReason(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	default:
		return fmt.Sprintf("ExitCode:%d", t.ExitCode)
	}
}

// tally counts restarts. last is the latest time at which a restarted container ended.
type tally struct {
	count int64
	last  metav1.Time
}

func (t *tally) add(c *corev1.ContainerStatus) {
	t.count += int64(c.RestartCount)
	if ended := c.LastTerminationState.Terminated; ended != nil && t.last.Before(&ended.FinishedAt) {
		t.last = ended.FinishedAt
	}
}

func (t tally) text(now time.Time) string {
	if t.count == 0 || t.last.IsZero() {
		return strconv.FormatInt(t.count, 10)
	}
	return fmt.Sprintf("%d (%s ago)", t.count, entry.Age(t.last.Time, now))
}
