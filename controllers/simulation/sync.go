package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// sync makes the changes that are due in a pod that has started. It changes the containers, and then the status that
// follows from them, the spec, the annotations and the readiness gates. It returns the events, and the time until the
// next change; 0 for none. Each init container and sidecar begins when those before it have ended or, if they are
// sidecars, have started.
func (o Options) sync(p *corev1.Pod, now metav1.Time) (events []workload.Event, again time.Duration) {
	addStatuses(p)
	var incomplete []string // the init containers and sidecars for which others wait
	for _, c := range containersOf(p) {
		c.outcome = o.outcomeOf(p, c.Container.Name, c.role)
		first := c.role == initial || c.role == sidecar
		if len(incomplete) == 0 || c.role == ephemeral || first && (c.runs() || c.LastTerminationState.Terminated != nil) {
			more, wait := c.step(now)
			if events = append(events, more...); wait > 0 && (again == 0 || wait < again) {
				again = wait
			}
			c.observe()
		}
		if first && !c.complete() {
			incomplete = append(incomplete, c.Container.Name)
		}
	}
	initializes(p, incomplete, now)
	if phase := phaseOf(p, incomplete); phase == corev1.PodSucceeded || phase == corev1.PodFailed {
		events = append(events, killed(p)...)
		finished(p, now, phase)
	} else {
		p.Status.Phase = phase
		readiness(p, now)
		observe(p)
	}
	return events, again
}

// addStatuses adds the missing statuses of containers.
func addStatuses(p *corev1.Pod) {
	lists := map[role]*[]corev1.ContainerStatus{
		initial: &p.Status.InitContainerStatuses, sidecar: &p.Status.InitContainerStatuses,
		regular: &p.Status.ContainerStatuses, ephemeral: &p.Status.EphemeralContainerStatuses,
	}
	for _, c := range containersOf(p) {
		if list, no := lists[c.role], false; c.ContainerStatus == nil {
			*list = append(*list, corev1.ContainerStatus{Name: c.Container.Name, Image: c.Container.Image, Started: &no,
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}})
		}
	}
}

// complete reports whether the containers after an init container can start.
func (c *container) complete() bool {
	if c.role == sidecar {
		return c.Started != nil && *c.Started || c.LastTerminationState.Terminated != nil
	}
	return c.State.Terminated != nil && c.State.Terminated.ExitCode == 0
}

// observe sets the fields of a container's status that follow from its state and its spec. A running container has the
// resources that it requests at once. A pod can only be resized if its running containers have them in their status (K
// pkg/apis/core/validation/validation.go: isPodResizeRequestSupported).
func (c *container) observe() {
	c.Ready = c.State.Running != nil && c.what != NeverReady && c.role != ephemeral && c.role != initial ||
		c.role == initial && c.complete()
	if c.State.Running != nil && c.role != ephemeral {
		c.ContainerStatus.Resources = &corev1.ResourceRequirements{
			Limits: c.Container.Resources.Limits, Requests: c.Container.Resources.Requests}
		c.AllocatedResources = c.Container.Resources.Requests
	}
}

// phaseOf returns the phase that follows from the states of the containers (K pkg/kubelet/kubelet_pods.go: getPhase).
func phaseOf(p *corev1.Pod, incomplete []string) corev1.PodPhase {
	var waiting, running, failed int
	for _, s := range p.Status.InitContainerStatuses {
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 && slices.Contains(incomplete, s.Name) {
			return corev1.PodFailed
		}
	}
	for _, s := range p.Status.ContainerStatuses {
		switch {
		case s.State.Running != nil || s.LastTerminationState.Terminated != nil && s.State.Terminated == nil:
			running++
		case s.State.Terminated == nil:
			waiting++
		case s.State.Terminated.ExitCode != 0:
			failed++
		}
	}
	switch {
	case len(incomplete) > 0 || waiting > 0:
		return corev1.PodPending
	case running > 0:
		return corev1.PodRunning
	case failed > 0:
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

// initializes sets the condition of the init containers (K pkg/kubelet/status/generate.go:
// GeneratePodInitializedCondition).
func initializes(p *corev1.Pod, incomplete []string, now metav1.Time) {
	reason, message := "", ""
	if len(incomplete) > 0 {
		reason, message = "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %s", incomplete)
	}
	condition(p, corev1.PodInitialized, len(incomplete) == 0, reason, message, now)
}

// readiness sets the conditions of a pod whose containers should be ready (K pkg/kubelet/status/generate.go:
// GenerateContainersReadyCondition, GeneratePodReadyCondition).
func readiness(p *corev1.Pod, now metav1.Time) {
	var names, gates []string
	for _, c := range containersOf(p) {
		if !c.Ready && (c.role == sidecar || c.role == regular) {
			names = append(names, c.Container.Name)
		}
	}
	if len(names) > 0 {
		message := fmt.Sprintf("containers with unready status: %s", names)
		condition(p, corev1.PodReady, false, notReady, message, now)
		condition(p, corev1.ContainersReady, false, notReady, message, now)
		return
	}
	for _, g := range p.Spec.ReadinessGates {
		switch c := workload.PodCondition(p, g.ConditionType); {
		case c == nil:
			gates = append(gates,
				fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", g.ConditionType))
		case c.Status != corev1.ConditionTrue:
			gates = append(gates,
				fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", g.ConditionType, c.Status))
		}
	}
	reason := ""
	if len(gates) > 0 {
		reason = "ReadinessGatesNotReady"
	}
	condition(p, corev1.PodReady, len(gates) == 0, reason, strings.Join(gates, ", "), now)
	condition(p, corev1.ContainersReady, true, "", "", now)
}

// observe records the generation in the status and in the conditions of kubelets (K pkg/kubelet/kubelet_pods.go:
// generateAPIPodStatus). Conditions of other components stay.
func observe(p *corev1.Pod) {
	p.Status.ObservedGeneration = p.Generation
	for _, t := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady,
		corev1.ContainersReady, corev1.PodScheduled} {
		if c := workload.PodCondition(p, t); c != nil {
			c.ObservedGeneration = p.Generation
		}
	}
}
