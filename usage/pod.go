package usage

import (
	corev1 "k8s.io/api/core/v1"
	podresource "k8s.io/component-helpers/resource"
)

// Requests returns the requests of a pod: of its containers and sidecars together or, if that is more, of an init
// container with the sidecars before it. The pod's own values for CPU and memory replace these.
func Requests(s *corev1.PodSpec) corev1.ResourceList {
	sum := podresource.AggregateContainerRequests(&corev1.Pod{Spec: *s}, podresource.PodResourcesOptions{})
	override(sum, ownResources(s).Requests)
	return sum
}

// Limits returns the limits of a pod, added up as Requests are.
func Limits(s *corev1.PodSpec) corev1.ResourceList {
	sum := podresource.AggregateContainerLimits(&corev1.Pod{Spec: *s}, podresource.PodResourcesOptions{})
	override(sum, ownResources(s).Limits)
	return sum
}

// podResources returns the requests and limits that quotas count: at least the amounts that the node has already
// allocated, plus the pod's overhead (K pkg/quota/v1/evaluator/core: PodUsageFunc).
func podResources(pod *corev1.Pod) (requests, limits corev1.ResourceList) {
	options := podresource.PodResourcesOptions{UseStatusResources: true}
	return podresource.PodRequests(pod, options), podresource.PodLimits(pod, options)
}

// ownResources returns the pod's own resources, without its containers.
func ownResources(s *corev1.PodSpec) corev1.ResourceRequirements {
	if s.Resources == nil {
		return corev1.ResourceRequirements{}
	}
	return *s.Resources
}

// override replaces sums by the pod's own values.
func override(sum, own corev1.ResourceList) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := own[name]; ok {
			sum[name] = q.DeepCopy()
		}
	}
}
