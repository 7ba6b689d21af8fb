package simulation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// synced returns a running pod with the status that a kubelet's next sync writes, and the events; nil if it is stored
// already. A pod that has no statuses of containers is a client's, and stays as it is.
func synced(p *corev1.Pod, now metav1.Time) (next *corev1.Pod, events []workload.Event) {
	if len(p.Status.ContainerStatuses) == 0 {
		return nil, nil
	}
	next = p.DeepCopy()
	events = follow(next, now)
	if equality.Semantic.DeepEqual(p.Status, next.Status) {
		return nil, nil
	}
	return next, events
}

// follow derives the status of a running pod from its spec, its annotations and its readiness gates, and returns the
// events of containers that start.
func follow(p *corev1.Pod, now metav1.Time) (events []workload.Event) {
	containers, at := fields(p)
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			s := &list[i]
			k := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == s.Name })
			if k < 0 {
				continue
			}
			events = append(events, relaunch(p, s, &containers[k], at[k], now)...)
			if s.State.Running != nil {
				given(s, &containers[k])
				s.Ready = wish(p) != Unready
			}
		}
	}
	for i := len(p.Status.EphemeralContainerStatuses); i < len(p.Spec.EphemeralContainers); i++ { // they are never removed
		c := corev1.Container(p.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		s := launched(p, &c, 0, now)
		s.Started = nil // nor is it ever ready
		p.Status.EphemeralContainerStatuses = append(p.Status.EphemeralContainerStatuses, s)
		events = append(events, starting(p, c, fmt.Sprintf("spec.ephemeralContainers{%s}", c.Name))...)
	}
	readiness(p, now)
	observe(p)
	return events
}

// relaunch starts a container with another image, with any restart policy, and returns the events (K
// pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions). A container that would wait for its restart
// doesn't, as its pause is that of the image.
func relaunch(
	p *corev1.Pod, s *corev1.ContainerStatus, c *corev1.Container, at string, now metav1.Time,
) (events []workload.Event) {
	if image, ok := strings.CutPrefix(s.ImageID, simulatedPrefix); !ok || image == c.Image || s.State.Terminated != nil {
		return nil
	}
	last, restarts := s.LastTerminationState, s.RestartCount
	if s.State.Running != nil {
		events = append(events, report(p, corev1.EventTypeNormal, "Killing",
			fmt.Sprintf("Container %s definition changed, will be restarted", c.Name), at))
		exited(s, now, killedCode)
		last, restarts = s.State, restarts+1
	}
	*s = launched(p, c, restarts, now)
	s.LastTerminationState = last
	return append(events, starting(p, *c, at)...)
}

// given sets the resources in a container's status to those that it requests, at once. A pod can only be resized if its
// running containers have them in their status (K pkg/apis/core/validation/validation.go:isPodResizeRequestSupported).
func given(s *corev1.ContainerStatus, c *corev1.Container) {
	s.Resources = &corev1.ResourceRequirements{Limits: c.Resources.Limits, Requests: c.Resources.Requests}
	s.AllocatedResources = c.Resources.Requests
}

// readiness sets the conditions of a pod whose containers should be ready (K pkg/kubelet/status/generate.go:
// GenerateContainersReadyCondition, GeneratePodReadyCondition).
func readiness(p *corev1.Pod, now metav1.Time) {
	var names, gates []string
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if !c.Ready {
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

// observe records the generation in the status and in the conditions of kubelets (K pkg/kubelet/kubelet_pods.go:
// generateAPIPodStatus). Those of others stay.
func observe(p *corev1.Pod) {
	p.Status.ObservedGeneration = p.Generation
	for _, t := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady,
		corev1.ContainersReady, corev1.PodScheduled} {
		if c := conditionOf(p, t); c != nil {
			c.ObservedGeneration = p.Generation
		}
	}
}
