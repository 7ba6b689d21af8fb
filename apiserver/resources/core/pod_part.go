package core

import (
	"cmp"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// validatePodEphemeral validates the addition of ephemeral containers, which are immutable afterwards (core
// ValidatePodEphemeralContainersUpdate).
func validatePodEphemeral(p, old *corev1.Pod) field.ErrorList {
	had := podspec.LegacyOf(&old.Spec, &old.ObjectMeta)
	errs := podBody(p, had)
	errs = append(errs, podAnnotationsUpdate(p, old, had)...)
	if _, ok := old.Annotations[podspec.MirrorAnnotation]; ok {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	now := map[string]*corev1.EphemeralContainer{}
	for i := range p.Spec.EphemeralContainers {
		now[p.Spec.EphemeralContainers[i].Name] = &p.Spec.EphemeralContainers[i]
	}
	at := check.SpecPath.Child("ephemeralContainers")
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		switch c := now[was.Name]; {
		case c == nil:
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be removed\n",
				was.Name)))
		case !apiequality.Semantic.DeepEqual(*was, *c):
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v",
				was.Name, check.Difference(*was, *c))))
		}
	}
	return errs
}

// validatePodResize validates a change of CPU and memory (core ValidatePodResize).
func validatePodResize(p, old *corev1.Pod) field.ErrorList {
	errs := podBody(p, podspec.LegacyOf(&old.Spec, &old.ObjectMeta))
	if _, ok := old.Annotations[podspec.MirrorAnnotation]; ok {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	}
	if check.ValueOf(old.Spec.OS).Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	errs = append(errs, check.Reject(qosClass(&p.Spec) != cmp.Or(old.Status.QOSClass, qosClass(&old.Spec)), check.SpecPath,
		p.Status.QOSClass, "Pod QOS Class may not change as a result of resizing")...)
	errs = append(errs, check.Forbid(!resizableNode(old), check.SpecPath,
		"Pod running on node without support for resize")...)
	rest, before := oneForm(&p.Spec), oneForm(&old.Spec)
	errs = append(errs, resizeWhole(rest, before, &p.Spec, &old.Spec)...)
	if moved := resizeOrder(&p.Spec, &old.Spec); len(moved) > 0 {
		return append(errs, moved...)
	}
	errs = append(errs, removedResources(&p.Spec, &old.Spec)...)
	errs = append(errs, otherResources(rest, before)...)
	return append(errs, check.Forbid(len(errs) == 0 && !apiequality.Semantic.DeepEqual(rest, before), check.SpecPath,
		"only cpu and memory resources are mutable")...)
}

// resizableNode reports whether the pod's node supports resizes: the status of the first running container has
// resources, or no container runs.
func resizableNode(p *corev1.Pod) bool {
	for _, s := range p.Status.ContainerStatuses {
		if s.State.Running != nil {
			return s.Resources != nil
		}
	}
	return true
}

// resizeWhole validates a change of pod-level resources. In rest, it replaces CPU and memory with those of the spec
// before (core validatePodLevelResourcesResize).
func resizeWhole(rest, before, s, old *corev1.PodSpec) (errs field.ErrorList) {
	set := func(r *corev1.ResourceRequirements) bool { return r != nil && len(r.Requests)+len(r.Limits) > 0 }
	if !set(s.Resources) && !set(old.Resources) {
		return nil
	}
	at := check.SpecPath.Child("resources")
	if was := old.Resources; was != nil {
		if s.Resources == nil {
			return field.ErrorList{field.Forbidden(at, "pod-level resources cannot be removed")}
		}
		errs = append(errs, check.Forbid(fewer(s.Resources.Requests, was.Requests), at.Child("requests"),
			"pod-level resource requests cannot be removed")...)
		errs = append(errs, check.Forbid(fewer(s.Resources.Limits, was.Limits), at.Child("limits"),
			"pod-level resource limits cannot be removed")...)
	}
	if now := rest.Resources; now != nil {
		was := cmp.Or(before.Resources, &corev1.ResourceRequirements{})
		keepComputed(now, was)
		if before.Resources == nil && len(now.Requests)+len(now.Limits)+len(now.Claims) == 0 {
			rest.Resources = nil
		}
	}
	return append(errs, check.Forbid(!apiequality.Semantic.DeepEqual(rest.Resources, before.Resources), check.SpecPath,
		"only cpu and memory resources are mutable at pod-level")...)
}

// resizeOrder requires the same containers in the same order (core validatePodResizeContainerOrdering).
func resizeOrder(s, old *corev1.PodSpec) (errs field.ErrorList) {
	for _, list := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", s.Containers, old.Containers}, {"initContainers", s.InitContainers, old.InitContainers}} {
		at := check.SpecPath.Child(list.name)
		if len(list.now) != len(list.was) {
			errs = append(errs, field.Forbidden(at, list.name+" may not be added or removed on resize"))
			continue
		}
		for i := range list.was {
			errs = append(errs, check.Forbid(list.now[i].Name != list.was[i].Name, at.Index(i).Child("name"),
				list.name+" may not be renamed or reordered on resize")...)
		}
	}
	return errs
}

// removedResources rejects a resize that removes a request or limit.
func removedResources(s, old *corev1.PodSpec) (errs field.ErrorList) {
	removed := func(now, was []corev1.Container, name string) {
		for i := range was {
			at := check.SpecPath.Child(name).Index(i).Child("resources")
			errs = append(errs, check.Forbid(fewer(now[i].Resources.Requests, was[i].Resources.Requests),
				at.Child("requests"), "resource requests cannot be removed")...)
			errs = append(errs, check.Forbid(fewer(now[i].Resources.Limits, was[i].Resources.Limits),
				at.Child("limits"), "resource limits cannot be removed")...)
		}
	}
	removed(s.InitContainers, old.InitContainers, "initContainers")
	removed(s.Containers, old.Containers, "containers")
	return errs
}

func fewer(now, was corev1.ResourceList) bool {
	return !sets.KeySet(now).IsSuperset(sets.KeySet(was))
}

// otherResources copies CPU and memory from the old spec, and then rejects every other change of a container.
func otherResources(s, old *corev1.PodSpec) (errs field.ErrorList) {
	for i := range s.Containers {
		keepComputed(&s.Containers[i].Resources, &old.Containers[i].Resources)
		errs = append(errs, check.Forbid(!apiequality.Semantic.DeepEqual(s.Containers[i], old.Containers[i]), check.SpecPath,
			"only cpu and memory resources are mutable")...)
	}
	for i := range s.InitContainers {
		c, was, at := &s.InitContainers[i], &old.InitContainers[i], check.SpecPath.Child("initContainers").Index(i)
		resized := !apiequality.Semantic.DeepEqual(c, was)
		keepComputed(&c.Resources, &was.Resources)
		errs = append(errs, check.Forbid(!apiequality.Semantic.DeepEqual(c, was), at,
			"only cpu and memory resources for init or sidecar containers are mutable")...)
		if !resized || podspec.Sidecar(c) {
			continue
		}
		for _, p := range c.ResizePolicy {
			errs = append(errs, check.Forbid(p.RestartPolicy == corev1.RestartContainer, at,
				"non-sidecar init containers with a resize policy of RestartContainer cannot be resized")...)
		}
	}
	return errs
}

func keepComputed(now, was *corev1.ResourceRequirements) {
	now.Limits, now.Requests = computed(now.Limits, was.Limits), computed(now.Requests, was.Requests)
}

// computed returns a list with the old quantities of CPU and memory.
func computed(now, was corev1.ResourceList) corev1.ResourceList {
	list := corev1.ResourceList{}
	maps.Copy(list, now)
	for _, name := range podspec.ResizableResources {
		delete(list, name)
		if q, ok := was[name]; ok {
			list[name] = q
		}
	}
	if len(list) == 0 && was == nil {
		return nil
	}
	return list
}
