package simulation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// given sets the resources in a container's status to those that it requests, at once. A pod can only be resized if its
// running containers have them in their status (K pkg/apis/core/validation/validation.go:isPodResizeRequestSupported).
func given(s *corev1.ContainerStatus, c *corev1.Container) {
	s.Resources = &corev1.ResourceRequirements{Limits: c.Resources.Limits, Requests: c.Resources.Requests}
	s.AllocatedResources = c.Resources.Requests
}

// resized returns the pod with the resources of its running containers in its status, nil if they are there already.
func resized(p *corev1.Pod) *corev1.Pod {
	stale := false
	running := func(s *corev1.ContainerStatus, c *corev1.Container) { stale = stale || !has(s, c) }
	if each(p.Status.InitContainerStatuses, p.Spec.InitContainers, running); !stale {
		each(p.Status.ContainerStatuses, p.Spec.Containers, running)
	}
	if !stale {
		return nil
	}
	p = p.DeepCopy()
	each(p.Status.InitContainerStatuses, p.Spec.InitContainers, given)
	each(p.Status.ContainerStatuses, p.Spec.Containers, given)
	p.Status.ObservedGeneration = p.Generation
	return p
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

func has(s *corev1.ContainerStatus, c *corev1.Container) bool {
	return s.Resources != nil && equality.Semantic.DeepEqual(s.Resources.Limits, c.Resources.Limits) &&
		equality.Semantic.DeepEqual(s.Resources.Requests, c.Resources.Requests)
}
