package simulation

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata with steps of two seconds.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata", workloadtest.Options{
		Controllers: []workload.Controller{
			Node("v1", Options{}),
			Scheduler(true, Options{}),
			Pods(Options{Delay: 2 * time.Second}),
		},
		Print: show, Check: check,
	})
}

// check: a pod is ready only while it runs, and runs only on a node; what runs was started.
func check(w *workloadtest.World) error {
	for _, p := range workload.All[*corev1.Pod](w, "") {
		if _, ok := workload.Ready(p); ok && p.Status.Phase != corev1.PodRunning ||
			p.Status.Phase == corev1.PodRunning && p.Spec.NodeName == "" {
			return fmt.Errorf("%s", show(p))
		}
		for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			if c.State.Running != nil && (c.Started == nil || !*c.Started) {
				return fmt.Errorf("%s: %s runs and wasn't started", show(p), c.Name)
			}
		}
	}
	return nil
}

// show prints what matters of an object.
func show(o workload.Object) string {
	if n, ok := o.(*corev1.Node); ok {
		s := fmt.Sprintf("%s runs %s at %v with %v", n.Name, n.Status.NodeInfo.KubeletVersion, n.Status.Addresses, n.Labels)
		for _, c := range n.Status.Conditions {
			if (c.Type == corev1.NodeReady) != (c.Status == corev1.ConditionTrue) {
				s += fmt.Sprintf(" %s=%s (%s)", c.Type, c.Status, c.Reason)
			}
		}
		return s
	}
	p, ok := o.(*corev1.Pod)
	if !ok {
		return workload.Of(o).Kind + " " + o.GetName()
	}
	s := fmt.Sprintf("%s on %q %s", p.Name, p.Spec.NodeName, p.Status.Phase)
	if p.Status.Reason != "" {
		s += ", " + p.Status.Reason
	}
	for _, c := range p.Status.Conditions {
		s += fmt.Sprintf(" %s=%s", c.Type, c.Status)
		if c.Type == corev1.PodReady && c.Message != "" {
			s += fmt.Sprintf(" (%s)", c.Message)
		}
	}
	if p.Spec.HostNetwork && p.Status.HostIP != "" {
		s += fmt.Sprintf(" at %v on %v", p.Status.PodIPs, p.Status.HostIPs)
	}
	for _, c := range slices.Concat(
		p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.EphemeralContainerStatuses) {
		for _, name := range slices.Sorted(maps.Keys(c.AllocatedResources)) {
			s += fmt.Sprintf(" %s has %s of %s", c.Name, new(c.AllocatedResources[name]).String(), name)
		}
		switch {
		case c.State.Running != nil && c.RestartCount > 0:
			s += fmt.Sprintf(" %s runs %s as %s, generation %d", c.Name, c.ImageID, c.ContainerID, p.Status.ObservedGeneration)
		case c.State.Terminated != nil:
			s += fmt.Sprintf(" %s exited with %d", c.Name, c.State.Terminated.ExitCode)
		case c.State.Waiting != nil && c.LastTerminationState.Terminated == nil:
			s += fmt.Sprintf(" %s %s: %s", c.Name, c.State.Waiting.Reason, c.State.Waiting.Message)
		case c.State.Waiting != nil:
			s += fmt.Sprintf(" %s %s, %d restarts after %s: %s", c.Name, c.State.Waiting.Reason, c.RestartCount,
				c.LastTerminationState.Terminated.Reason, c.State.Waiting.Message)
		}
	}
	return s
}
