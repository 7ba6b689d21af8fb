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
// next change; 0 for none.
func (o Options) sync(p *corev1.Pod, now metav1.Time) (events []workload.Event, again time.Duration) {
	var initialized, more []workload.Event
	incomplete, wait := o.initialize(p, now, &initialized)
	again = wait
	step := func(c container) {
		more, wait = c.step(now)
		if events = append(events, more...); wait > 0 && (again == 0 || wait < again) {
			again = wait
		}
		c.observe()
	}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		if s := statusOf(&p.Status.ContainerStatuses, c); len(incomplete) == 0 {
			step(o.container(p, c, s, regular, fmt.Sprintf("spec.containers{%s}", c.Name)))
		}
	}
	for i := range p.Spec.EphemeralContainers {
		c := corev1.Container(p.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		s := statusOf(&p.Status.EphemeralContainerStatuses, &c)
		step(o.container(p, &c, s, ephemeral, fmt.Sprintf("spec.ephemeralContainers{%s}", c.Name)))
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
	return append(initialized, events...), again
}

// initialize makes the changes of init containers and sidecars, each of which begins when those before it have ended
// or, if they are sidecars, have started. incomplete has the names of those that have not.
func (o Options) initialize(
	p *corev1.Pod, now metav1.Time, events *[]workload.Event,
) (incomplete []string, again time.Duration) {
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		s := statusOf(&p.Status.InitContainerStatuses, c)
		r := initial
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			r = sidecar
		}
		is := o.container(p, c, s, r, fmt.Sprintf("spec.initContainers{%s}", c.Name))
		if len(incomplete) == 0 || s.State.Running != nil || s.LastTerminationState.Terminated != nil {
			more, wait := is.step(now)
			if *events = append(*events, more...); wait > 0 && (again == 0 || wait < again) {
				again = wait
			}
			is.observe()
		}
		if !is.complete() {
			incomplete = append(incomplete, c.Name)
		}
	}
	return incomplete, again
}

// container returns a container of the pod with its outcome.
func (o Options) container(
	p *corev1.Pod, c *corev1.Container, s *corev1.ContainerStatus, r role, at string,
) container {
	return container{Container: c, ContainerStatus: s, pod: p, role: r, at: at, outcome: o.outcomeOf(p, c.Name, r)}
}

// statusOf returns the status of a container, which is added if it is missing.
func statusOf(all *[]corev1.ContainerStatus, c *corev1.Container) *corev1.ContainerStatus {
	i := slices.IndexFunc(*all, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
	if i < 0 {
		no := false
		i, *all = len(*all), append(*all, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Started: &no,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}})
	}
	return &(*all)[i]
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
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if !c.Ready && !isInitial(p, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		message := fmt.Sprintf("containers with unready status: %s", names)
		condition(p, corev1.PodReady, false, notReady, message, now)
		condition(p, corev1.ContainersReady, false, notReady, message, now)
		return
	}
	for _, g := range p.Spec.ReadinessGates {
		switch c := conditionOf(p, g.ConditionType); {
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

// isInitial reports whether the container is an init container and no sidecar.
func isInitial(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && (c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways)
	})
}

// observe records the generation in the status and in the conditions of kubelets (K pkg/kubelet/kubelet_pods.go:
// generateAPIPodStatus). Conditions of other components stay.
func observe(p *corev1.Pod) {
	p.Status.ObservedGeneration = p.Generation
	for _, t := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady,
		corev1.ContainersReady, corev1.PodScheduled} {
		if c := conditionOf(p, t); c != nil {
			c.ObservedGeneration = p.Generation
		}
	}
}
