package prepare

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// qosClass is the pod's quality of service: guaranteed if CPU and memory are limited everywhere and
// requested as limited, best effort if neither is mentioned. Resources of the pod as a whole count
// instead of its containers' (ComputePodQOS).
func qosClass(s *corev1.PodSpec) corev1.PodQOSClass {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	guaranteed := true
	if wholePod(s.Resources) {
		sumUp(requests, s.Resources.Requests)
		if len(s.Resources.Limits) > 0 {
			guaranteed = sumUp(limits, s.Resources.Limits)
		}
	} else {
		for _, list := range [][]corev1.Container{s.Containers, s.InitContainers} {
			for i := range list {
				sumUp(requests, list[i].Resources.Requests)
				guaranteed = sumUp(limits, list[i].Resources.Limits) && guaranteed
			}
		}
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	for name, q := range requests {
		limit, ok := limits[name]
		guaranteed = guaranteed && ok && limit.Cmp(q) == 0
	}
	if guaranteed && len(requests) == len(limits) {
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// sumUp adds CPU and memory to total, and reports whether list had both.
func sumUp(total, list corev1.ResourceList) bool {
	found := 0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		q, ok := list[name]
		if !ok || q.Sign() <= 0 {
			continue
		}
		found++
		sum := q.DeepCopy()
		sum.Add(total[name])
		total[name] = sum
	}
	return found == 2
}

// wholePod reports whether a pod has resources of its own (IsPodLevelResourcesSet).
func wholePod(r *corev1.ResourceRequirements) bool {
	if r == nil {
		return false
	}
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		for name := range list {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
				strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
				return true
			}
		}
	}
	return false
}
