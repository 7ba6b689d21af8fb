package usage

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func podInScope(r corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool {
	pod := obj.(*corev1.Pod)
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return terminating(pod)
	case corev1.ResourceQuotaScopeNotTerminating:
		return !terminating(pod)
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(&pod.Spec)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(&pod.Spec)
	case corev1.ResourceQuotaScopePriorityClass:
		return selects(r, []string{pod.Spec.PriorityClassName})
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return reachesOut(pod.Spec.Affinity)
	}
	return false
}

// terminating reports whether the pod has a deadline.
func terminating(pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
}

// bestEffort reports whether neither the containers nor the pod specify CPU or memory.
func bestEffort(s *corev1.PodSpec) bool {
	says := func(lists ...corev1.ResourceList) bool {
		return slices.ContainsFunc(lists, func(l corev1.ResourceList) bool {
			cpu, memory := l[corev1.ResourceCPU], l[corev1.ResourceMemory]
			return cpu.Sign() > 0 || memory.Sign() > 0
		})
	}
	if own := ownResources(s); len(own.Requests)+len(own.Limits) > 0 {
		return !says(own.Requests, own.Limits)
	}
	for _, list := range [][]corev1.Container{s.Containers, s.InitContainers} {
		for i := range list {
			if says(list[i].Resources.Requests, list[i].Resources.Limits) {
				return false
			}
		}
	}
	return true
}

// selects reports whether the selector matches one of the values; empty ones don't count.
func selects(r corev1.ScopedResourceSelectorRequirement, values []string) bool {
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	in := func(v string) bool { return slices.Contains(r.Values, v) }
	switch r.Operator {
	case corev1.ScopeSelectorOpExists:
		return len(values) > 0
	case corev1.ScopeSelectorOpDoesNotExist:
		return len(values) == 0
	case corev1.ScopeSelectorOpIn:
		return slices.ContainsFunc(values, in)
	case corev1.ScopeSelectorOpNotIn:
		return len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return !in(v) })
	}
	return false
}

// reachesOut reports whether the pod's affinity refers to pods of other namespaces.
func reachesOut(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	weighted := func(list []corev1.WeightedPodAffinityTerm) {
		for _, w := range list {
			terms = append(terms, w.PodAffinityTerm)
		}
	}
	if p := a.PodAffinity; p != nil {
		terms = append(terms, p.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		terms = append(terms, p.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool {
		return len(t.Namespaces) > 0 || t.NamespaceSelector != nil
	})
}

// claimInScope reports whether a claim matches a scope. Claims only match scopes for volume attributes classes: for the
// present and the requested one.
func claimInScope(r corev1.ScopedResourceSelectorRequirement, obj runtime.Object) bool {
	c := obj.(*corev1.PersistentVolumeClaim)
	if r.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
		return false
	}
	var classes []string
	for _, name := range []*string{c.Spec.VolumeAttributesClassName, c.Status.CurrentVolumeAttributesClassName} {
		if name != nil {
			classes = append(classes, *name)
		}
	}
	if m := c.Status.ModifyVolumeStatus; m != nil {
		classes = append(classes, m.TargetVolumeAttributesClassName)
	}
	return selects(r, classes)
}
