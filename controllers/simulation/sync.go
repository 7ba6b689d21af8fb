package simulation

import (
	"fmt"
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
	each(p.Status.InitContainerStatuses, p.Spec.InitContainers, given)
	each(p.Status.ContainerStatuses, p.Spec.Containers, func(s *corev1.ContainerStatus, c *corev1.Container) {
		given(s, c)
		s.Ready = wish(p) != Unready
	})
	for i := len(p.Status.EphemeralContainerStatuses); i < len(p.Spec.EphemeralContainers); i++ { // they are never removed
		c := corev1.Container(p.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		s := containerOf(p, c)
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		p.Status.EphemeralContainerStatuses = append(p.Status.EphemeralContainerStatuses, s)
		events = append(events, starting(p, c, fmt.Sprintf("spec.ephemeralContainers{%s}", c.Name))...)
	}
	readiness(p, now)
	observe(p)
	return events
}

// given sets the resources in a container's status to those that it requests, at once. A pod can only be resized if its
// running containers have them in their status (K pkg/apis/core/validation/validation.go:isPodResizeRequestSupported).
func given(s *corev1.ContainerStatus, c *corev1.Container) {
	s.Resources = &corev1.ResourceRequirements{Limits: c.Resources.Limits, Requests: c.Resources.Requests}
	s.AllocatedResources = c.Resources.Requests
}

// each calls f with every running container.
func each(
	statuses []corev1.ContainerStatus, containers []corev1.Container, f func(*corev1.ContainerStatus, *corev1.Container),
) {
	for i := range statuses {
		for k := range containers {
			if statuses[i].State.Running != nil && statuses[i].Name == containers[k].Name {
				f(&statuses[i], &containers[k])
			}
		}
	}
}

// readiness sets the conditions of a pod whose containers should be ready (K pkg/kubelet/status/generate.go:
// GenerateContainersReadyCondition, GeneratePodReadyCondition).
func readiness(p *corev1.Pod, now metav1.Time) {
	var names, gates []string
	for _, c := range p.Status.ContainerStatuses {
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
