package usage

import (
	corev1 "k8s.io/api/core/v1"
	podresource "k8s.io/component-helpers/resource"
)

// Requests is what a pod asks for as a whole: its containers and sidecars together, or an init
// container with the sidecars before it if that is more, and for CPU and memory what the pod says of
// itself.
func Requests(s *corev1.PodSpec) corev1.ResourceList {
	sum := podresource.AggregateContainerRequests(&corev1.Pod{Spec: *s}, podresource.PodResourcesOptions{})
	override(sum, ownResources(s).Requests)
	return sum
}

// Limits is what a pod may use, added up as Requests are.
func Limits(s *corev1.PodSpec) corev1.ResourceList {
	sum := podresource.AggregateContainerLimits(&corev1.Pod{Spec: *s}, podresource.PodResourcesOptions{})
	override(sum, ownResources(s).Limits)
	return sum
}

// charged is what quotas count: no less than what the node has given already, with the overhead of running a pod
// (K pkg/quota/v1/evaluator/core: PodUsageFunc).
func charged(pod *corev1.Pod) (requests, limits corev1.ResourceList) {
	options := podresource.PodResourcesOptions{UseStatusResources: true}
	return podresource.PodRequests(pod, options), podresource.PodLimits(pod, options)
}

// ownResources are those of the pod as a whole.
func ownResources(s *corev1.PodSpec) corev1.ResourceRequirements {
	if s.Resources == nil {
		return corev1.ResourceRequirements{}
	}
	return *s.Resources
}

// override replaces what a pod may say of itself.
func override(sum, own corev1.ResourceList) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := own[name]; ok {
			sum[name] = q.DeepCopy()
		}
	}
}
