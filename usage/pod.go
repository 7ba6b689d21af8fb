package usage

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Requests is what a pod asks for as a whole: its containers and sidecars together, or an init
// container with the sidecars before it if that is more, and for CPU and memory what the pod says of
// itself.
func Requests(s *corev1.PodSpec) corev1.ResourceList {
	sum := sumOf(s, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
	override(sum, ownResources(s).Requests, cpuOrMemory)
	return sum
}

// Limits is what a pod may use, added up as Requests are.
func Limits(s *corev1.PodSpec) corev1.ResourceList {
	sum := sumOf(s, limitsOf)
	override(sum, ownResources(s).Limits, cpuOrMemory)
	return sum
}

func limitsOf(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits }

// charged is what quotas count: requests no less than what the node has given already, with the
// overhead of running a pod (component-helpers: PodRequests, PodLimits).
func charged(pod *corev1.Pod) (requests, limits corev1.ResourceList) {
	s := &pod.Spec
	requests = sumOf(s, func(c *corev1.Container) corev1.ResourceList { return given(pod, c) })
	limits = sumOf(s, limitsOf)
	override(requests, ownResources(s).Requests, cpuMemoryOrPages)
	override(limits, ownResources(s).Limits, cpuMemoryOrPages)
	add(requests, s.Overhead)
	for name, q := range s.Overhead {
		if limit, ok := limits[name]; ok && !limit.IsZero() {
			limit = limit.DeepCopy()
			limit.Add(q)
			limits[name] = limit
		}
	}
	return requests, limits
}

// given is what a container requests or, if that is more, has been given while it is resized. A
// resize that can't be done counts for nothing.
func given(pod *corev1.Pod, c *corev1.Container) corev1.ResourceList {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range list {
			st := &list[i]
			if st.Name != c.Name || st.Resources == nil {
				continue
			}
			out := corev1.ResourceList{}
			atLeast(out, st.Resources.Requests)
			atLeast(out, st.AllocatedResources)
			if !infeasible(pod) {
				atLeast(out, c.Resources.Requests)
			}
			return out
		}
	}
	return c.Resources.Requests
}

func infeasible(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodResizePending {
			return c.Reason == corev1.PodReasonInfeasible
		}
	}
	return false
}

func sumOf(s *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	sum, sidecars, most := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range s.Containers {
		add(sum, of(&s.Containers[i]))
	}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(sum, of(c))
			add(sidecars, of(c))
			atLeast(most, sidecars)
			continue
		}
		meanwhile := corev1.ResourceList{}
		add(meanwhile, sidecars)
		add(meanwhile, of(c))
		atLeast(most, meanwhile)
	}
	atLeast(sum, most)
	return sum
}

// ownResources are those of the pod as a whole.
func ownResources(s *corev1.PodSpec) corev1.ResourceRequirements {
	if s.Resources == nil {
		return corev1.ResourceRequirements{}
	}
	return *s.Resources
}

// override replaces what a pod may say of itself.
func override(sum, own corev1.ResourceList, may func(corev1.ResourceName) bool) {
	for name, q := range own {
		if may(name) {
			sum[name] = q.DeepCopy()
		}
	}
}

func cpuOrMemory(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory
}

func cpuMemoryOrPages(name corev1.ResourceName) bool {
	return cpuOrMemory(name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
