package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podEphemeral judges the addition of ephemeral containers, which can't be changed or removed later
// (core ValidatePodEphemeralContainersUpdate).
func podEphemeral(p, old *corev1.Pod) field.ErrorList {
	had := legacyOf(&old.Spec, &old.ObjectMeta)
	errs := podBody(p, had)
	errs = append(errs, podAnnotationsUpdate(p, old, had)...)
	if _, ok := old.Annotations[mirrorAnnotation]; ok {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods do not support ephemeral containers")}
	}
	now := map[string]*corev1.EphemeralContainer{}
	for i := range p.Spec.EphemeralContainers {
		now[p.Spec.EphemeralContainers[i].Name] = &p.Spec.EphemeralContainers[i]
	}
	at := specPath.Child("ephemeralContainers")
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		switch c := now[was.Name]; {
		case c == nil:
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name)))
		case !apiequality.Semantic.DeepEqual(*was, *c):
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v",
				was.Name, diff.Diff(internal(*was), internal(*c)))))
		}
	}
	return errs
}

// podResize judges a change of CPU and memory (core ValidatePodResize).
func podResize(p, old *corev1.Pod) field.ErrorList {
	errs := podBody(p, legacyOf(&old.Spec, &old.ObjectMeta))
	if _, ok := old.Annotations[mirrorAnnotation]; ok {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	}
	if old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	if was := old.Status.QOSClass; qualityOf(&p.Spec) != orElse(was, qualityOf(&old.Spec)) {
		errs = append(errs, field.Invalid(specPath, p.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	if !resizableNode(old) {
		errs = append(errs, field.Forbidden(specPath, "Pod running on node without support for resize"))
	}
	if len(p.Spec.Containers) != len(old.Spec.Containers) || len(p.Spec.InitContainers) != len(old.Spec.InitContainers) {
		return append(errs, field.Forbidden(specPath, "only cpu and memory resources are mutable"))
	}
	errs = append(errs, removedResources(&p.Spec, &old.Spec)...)
	rest, before := oneForm(&p.Spec), oneForm(&old.Spec)
	errs = append(errs, otherResources(rest, before)...)
	if len(errs) == 0 && !apiequality.Semantic.DeepEqual(rest, before) {
		errs = append(errs, field.Forbidden(specPath, "only cpu and memory resources are mutable"))
	}
	return errs
}

func orElse[T ~string](value, other T) T {
	if value == "" {
		return other
	}
	return value
}

// resizableNode says that the first running container's status shows resources, or that none runs.
func resizableNode(p *corev1.Pod) bool {
	for _, s := range p.Status.ContainerStatuses {
		if s.State.Running != nil {
			return s.Resources != nil
		}
	}
	return true
}

// removedResources refuses a resize that takes a request or limit away.
func removedResources(s, old *corev1.PodSpec) (errs field.ErrorList) {
	if old.Resources != nil {
		now := s.Resources
		if now == nil {
			now = &corev1.ResourceRequirements{}
		}
		errs = append(errs, removed(now, old.Resources, specPath.Child("resources"))...)
	}
	for i := range old.InitContainers {
		if sidecar(&old.InitContainers[i]) {
			errs = append(errs, removed(&s.InitContainers[i].Resources, &old.InitContainers[i].Resources,
				specPath.Child("initContainers").Index(i).Child("resources"))...)
		}
	}
	for i := range old.Containers {
		errs = append(errs, removed(&s.Containers[i].Resources, &old.Containers[i].Resources,
			specPath.Child("containers").Index(i).Child("resources"))...)
	}
	return errs
}

func removed(now, was *corev1.ResourceRequirements, at *field.Path) (errs field.ErrorList) {
	if fewer(now.Requests, was.Requests) {
		errs = append(errs, field.Forbidden(at.Child("requests"), "resource requests cannot be removed"))
	}
	if fewer(now.Limits, was.Limits) {
		errs = append(errs, field.Forbidden(at.Child("limits"), "resource limits cannot be removed"))
	}
	return errs
}

func fewer(now, was corev1.ResourceList) bool {
	for name := range was {
		if _, ok := now[name]; !ok {
			return true
		}
	}
	return false
}

// otherResources takes CPU and memory from the old spec and refuses every other change of a container.
func otherResources(s, old *corev1.PodSpec) (errs field.ErrorList) {
	for i := range s.Containers {
		keepComputed(&s.Containers[i].Resources, &old.Containers[i].Resources)
		if !apiequality.Semantic.DeepEqual(s.Containers[i], old.Containers[i]) {
			errs = append(errs, field.Forbidden(specPath, "only cpu and memory resources are mutable"))
		}
	}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		text := "resources for non-sidecar init containers are immutable"
		if sidecar(c) {
			keepComputed(&c.Resources, &old.InitContainers[i].Resources)
			text = "only cpu and memory resources for sidecar containers are mutable"
		}
		if !apiequality.Semantic.DeepEqual(*c, old.InitContainers[i]) {
			errs = append(errs, field.Forbidden(specPath, text))
		}
	}
	if s.Resources != nil {
		was := old.Resources
		if was == nil {
			was = &corev1.ResourceRequirements{}
		}
		keepComputed(s.Resources, was)
		if old.Resources == nil && len(s.Resources.Requests)+len(s.Resources.Limits)+len(s.Resources.Claims) == 0 {
			s.Resources = nil
		}
	}
	return errs
}

func keepComputed(now, was *corev1.ResourceRequirements) {
	now.Limits, now.Requests = computed(now.Limits, was.Limits), computed(now.Requests, was.Requests)
}

// computed is a list with the old amounts of CPU and memory.
func computed(now, was corev1.ResourceList) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, q := range now {
		list[name] = q
	}
	for _, name := range resizable {
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

// qualityOf is the class of service that a spec asks for (core ComputePodQOS).
func qualityOf(s *corev1.PodSpec) corev1.PodQOSClass {
	q := quality{requests: corev1.ResourceList{}, limits: corev1.ResourceList{}, all: true}
	if whole := s.Resources; whole != nil && len(whole.Requests)+len(whole.Limits) > 0 {
		q.add(whole)
	} else {
		for i := range s.Containers {
			q.add(&s.Containers[i].Resources)
		}
		for i := range s.InitContainers {
			q.add(&s.InitContainers[i].Resources)
		}
	}
	if len(q.requests) == 0 && len(q.limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	if !q.all || len(q.requests) != len(q.limits) {
		return corev1.PodQOSBurstable
	}
	for name, request := range q.requests {
		if limit, ok := q.limits[name]; !ok || limit.Cmp(request) != 0 {
			return corev1.PodQOSBurstable
		}
	}
	return corev1.PodQOSGuaranteed
}

// quality sums up CPU and memory; all says that everything summed up limits both.
type quality struct {
	requests, limits corev1.ResourceList
	all              bool
}

func (q *quality) add(r *corev1.ResourceRequirements) {
	for _, name := range resizable {
		if amount, ok := r.Requests[name]; ok && amount.Sign() > 0 {
			addTo(q.requests, corev1.ResourceList{name: amount})
		}
		if amount, ok := r.Limits[name]; ok && amount.Sign() > 0 {
			addTo(q.limits, corev1.ResourceList{name: amount})
		} else {
			q.all = false
		}
	}
}
