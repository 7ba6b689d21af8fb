package core

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

var annotationsPath = field.NewPath("metadata", "annotations")

// podBody validates a pod's annotations and spec, and some rules that templates do not have (core
// validatePodMetadataAndSpec).
func podBody(p *corev1.Pod, had podspec.Legacy) field.ErrorList {
	r := podspec.NewRules(&p.Spec, had)
	r.Pod, r.Name = true, p.Name
	_, r.Static = p.Annotations[podspec.MirrorAnnotation]
	errs := r.Annotations(p.Annotations, annotationsPath)
	errs = append(errs, r.Validate(check.SpecPath)...)
	if p.Spec.ServiceAccountName == "" && p.Spec.DeprecatedServiceAccount == "" {
		errs = append(errs, noTokens(&p.Spec)...)
	}
	errs = append(errs, check.Each(p.Spec.Containers, check.SpecPath.Child("containers"), podspec.ImageSpace)...)
	return append(errs, check.Each(p.Spec.InitContainers, check.SpecPath.Child("initContainers"), podspec.ImageSpace)...)
}

// noTokens rejects service account tokens in a pod without a service account.
func noTokens(s *corev1.PodSpec) (errs field.ErrorList) {
	for i := range s.Volumes {
		sources := check.SpecPath.Child("volumes").Index(i).Child("projected", "sources")
		for j, source := range check.ValueOf(s.Volumes[i].Projected).Sources {
			errs = append(errs, check.Forbid(source.ServiceAccountToken != nil, sources.Index(j).Child("serviceAccountToken"),
				"must not be specified when serviceAccountName is not set")...)
		}
	}
	return errs
}

// validatePod validates a new pod (core ValidatePodCreate).
func validatePod(p *corev1.Pod) field.ErrorList {
	errs := podBody(p, podspec.Legacy{})
	errs = append(errs, check.Forbid(len(p.Spec.EphemeralContainers) > 0, check.SpecPath.Child("ephemeralContainers"),
		"cannot be set on create")...)
	errs = append(errs, check.Forbid(p.Spec.NodeName != "" && len(p.Spec.SchedulingGates) != 0,
		check.SpecPath.Child("nodeName"), "cannot be set until all schedulingGates have been cleared")...)
	r := podspec.NewRules(&p.Spec, podspec.Legacy{})
	return append(errs, r.ProfilesAgree(&p.ObjectMeta, check.SpecPath)...)
}

// mutable lists the mutable fields for the error message.
var mutable = strings.Join([]string{
	"`spec.containers[*].image`",
	"`spec.initContainers[*].image`",
	"`spec.activeDeadlineSeconds`",
	"`spec.tolerations` (only additions to existing tolerations)",
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
}, ",")

// validatePodUpdate validates a change of the pod itself (core ValidatePodUpdate).
func validatePodUpdate(p, old *corev1.Pod) field.ErrorList {
	had := podspec.LegacyOf(&old.Spec, &old.ObjectMeta)
	errs := podBody(p, had)
	errs = append(errs, podAnnotationsUpdate(p, old, had)...)
	for _, kind := range []struct {
		at         string
		list, olds []corev1.Container
	}{
		{"containers", p.Spec.Containers, old.Spec.Containers},
		{"initContainers", p.Spec.InitContainers, old.Spec.InitContainers},
	} {
		at := check.SpecPath.Child(kind.at)
		if len(kind.list) != len(kind.olds) {
			return append(errs, field.Forbidden(at, "pod updates may not add or remove containers"))
		}
		for i := range kind.list {
			errs = append(errs, check.RequireAll(at.Index(i), "image", kind.list[i].Image)...)
			errs = append(errs, podspec.ImageSpace(&kind.list[i], at.Index(i))...)
		}
	}
	faults, stop := deadlineUpdate(
		p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds, check.SpecPath.Child("activeDeadlineSeconds"),
	)
	errs = append(errs, faults...)
	if stop {
		return errs
	}
	errs = append(errs, tolerationsUpdate(p.Spec.Tolerations, old.Spec.Tolerations,
		check.SpecPath.Child("tolerations"))...)
	errs = append(errs, gatesUpdate(p.Spec.SchedulingGates, old.Spec.SchedulingGates,
		check.SpecPath.Child("schedulingGates"))...)
	before := oneForm(&old.Spec)
	if apiequality.Semantic.DeepEqual(oneForm(&p.Spec), before) {
		return errs
	}
	after := unchanged(oneForm(&p.Spec), before)
	if len(old.Spec.SchedulingGates) > 0 {
		errs = append(errs, placementUpdate(after, before)...)
	}
	if !apiequality.Semantic.DeepEqual(after, before) {
		errs = append(errs, field.Forbidden(check.SpecPath, fmt.Sprintf("pod updates may not change fields other than %s\n%v",
			mutable, check.Difference(*before, *after))))
	}
	return errs
}

func podAnnotationsUpdate(p, old *corev1.Pod, had podspec.Legacy) field.ErrorList {
	errs := fixedAnnotations(p.Annotations, old.Annotations)
	return append(errs, podspec.NewRules(&p.Spec, had).Annotations(p.Annotations, annotationsPath)...)
}

// oneForm returns a copy of a spec in which fields with the same meaning have one form.
func oneForm(s *corev1.PodSpec) *corev1.PodSpec {
	s = s.DeepCopy()
	check.FillDefault(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = ""
	check.SetDefault(&s.SecurityContext, corev1.PodSecurityContext{})
	return s
}

// unchanged copies the mutable fields from the old spec. They are validated separately.
func unchanged(s, old *corev1.PodSpec) *corev1.PodSpec {
	for i := range s.Containers {
		s.Containers[i].Image = old.Containers[i].Image
	}
	for i := range s.InitContainers {
		s.InitContainers[i].Image = old.InitContainers[i].Image
	}
	s.ActiveDeadlineSeconds = old.ActiveDeadlineSeconds
	s.SchedulingGates = old.SchedulingGates
	s.Tolerations = old.Tolerations
	was, now := old.TerminationGracePeriodSeconds, s.TerminationGracePeriodSeconds
	if was != nil && *was < 0 && now != nil && *now == 1 {
		s.TerminationGracePeriodSeconds = was
	}
	return s
}

// deadlineUpdate allows a deadline to be set or shortened. The second result reports whether to validate no further
// fields.
func deadlineUpdate(now, was *int64, at *field.Path) (field.ErrorList, bool) {
	switch {
	case now == nil && was == nil:
		return nil, false
	case now == nil:
		return field.ErrorList{field.Invalid(at, now, "must not update from a positive integer to nil value")}, false
	case *now < 0 || *now > math.MaxInt32:
		return field.ErrorList{field.Invalid(at, *now, utilvalidation.InclusiveRangeError(0, math.MaxInt32))}, true
	case was != nil && *was < *now:
		return field.ErrorList{field.Invalid(at, *now, "must be less than or equal to previous value")}, true
	}
	return nil, false
}

// tolerationsUpdate allows tolerations to be added, and tolerationSeconds of old ones to be changed.
func tolerationsUpdate(now, was []corev1.Toleration, at *field.Path) field.ErrorList {
	kept := map[corev1.Toleration]bool{}
	for _, t := range now {
		t.TolerationSeconds = nil
		kept[t] = true
	}
	for _, old := range was {
		old.TolerationSeconds = nil
		if !kept[old] {
			return field.ErrorList{field.Forbidden(at, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return podspec.ValidateTolerations(now, at)
}

// gatesUpdate only allows gates to be removed.
func gatesUpdate(now, was []corev1.PodSchedulingGate, at *field.Path) (errs field.ErrorList) {
	had, last := map[string]bool{}, map[string]int{}
	for _, g := range was {
		had[g.Name] = true
	}
	for i, g := range now {
		last[g.Name] = i
	}
	for i, g := range now {
		errs = append(errs, check.Forbid(!had[g.Name] && last[g.Name] == i, at.Index(i).Child("name"),
			fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", g.Name))...)
	}
	return errs
}

// fixedAnnotations rejects changes of immutable annotations (core ValidatePodSpecificAnnotationUpdates).
func fixedAnnotations(a, old map[string]string) (errs field.ErrorList) {
	forbid := func(key, change string) {
		at := annotationsPath.Key(key)
		errs = append(errs, check.Forbid(strings.HasPrefix(key, podspec.AppArmorContainerPrefix), at,
			"may not "+change+" AppArmor annotations")...)
		errs = append(errs, check.Forbid(key == podspec.MirrorAnnotation, at, "may not "+change+" mirror pod annotation")...)
	}
	for _, key := range check.Sorted(old) {
		if value, ok := a[key]; !ok || value != old[key] {
			forbid(key, "remove or update")
		}
	}
	for _, key := range check.Sorted(a) {
		if _, ok := old[key]; !ok {
			forbid(key, "add")
		}
	}
	return errs
}
