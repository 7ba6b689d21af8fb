package validation

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

func daemonSet(d *appsv1.DaemonSet) field.ErrorList { return daemonSetSpec(d, nil) }

// daemonSetSpec judges the spec; its template's generation is an annotation in apps/v1 and a field of
// the spec in the internal type.
func daemonSetSpec(d, old *appsv1.DaemonSet) field.ErrorList {
	s, at := &d.Spec, specPath.Child("selector")
	var before *corev1.PodTemplateSpec
	odd := false
	if old != nil {
		before = &old.Spec.Template
		odd = metavalidation.LabelSelectorHasInvalidLabelValue(old.Spec.Selector)
	}
	errs := selects(s.Selector, odd, at)
	if usable, err := invalid.AsSelector(s.Selector); err == nil {
		errs = append(errs, matched(usable, &s.Template, templatePath)...)
	}
	if s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(at, s.Selector, "empty selector is invalid for daemonset"))
	}
	errs = append(errs, template(&s.Template, before, templatePath)...)
	errs = append(errs, lasting(&s.Template, "DaemonSet", templatePath)...)
	errs = append(errs, natural(s.MinReadySeconds, specPath.Child("minReadySeconds"))...)
	errs = append(errs, natural(templateGeneration(d), specPath.Child("templateGeneration"))...)
	errs = append(errs, daemonStrategy(&s.UpdateStrategy, specPath.Child("updateStrategy"))...)
	return append(errs, naturals(specPath, "revisionHistoryLimit", s.RevisionHistoryLimit)...)
}

func templateGeneration(d *appsv1.DaemonSet) int64 {
	n, _ := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	return n
}

// daemonSetUpdate wants the template's generation to grow when the template changes, and only then.
func daemonSetUpdate(d, old *appsv1.DaemonSet) (errs field.ErrorList) {
	now, was := templateGeneration(d), templateGeneration(old)
	at := specPath.Child("templateGeneration")
	if now < was {
		errs = append(errs, field.Invalid(at, now, "must not be decremented"))
	}
	changed := !apiequality.Semantic.DeepEqual(d.Spec.Template, old.Spec.Template)
	if now == was && changed {
		errs = append(errs, field.Invalid(at, now, "must be incremented upon template update"))
	}
	if now > was && !changed {
		errs = append(errs, field.Invalid(at, now, "must not be incremented without template update"))
	}
	errs = append(errs, daemonSetSpec(d, old)...)
	return append(errs, sameSelector(d.Spec.Selector, old.Spec.Selector)...)
}

func daemonStrategy(s *appsv1.DaemonSetUpdateStrategy, at *field.Path) (errs field.ErrorList) {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		return field.ErrorList{field.NotSupported(at, internal(*s),
			[]appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType})}
	}
	if s.RollingUpdate == nil {
		return given(at, "rollingUpdate", "")
	}
	at = at.Child("rollingUpdate")
	down, up := share(s.RollingUpdate.MaxUnavailable), share(s.RollingUpdate.MaxSurge)
	for _, judge := range []func(intstr.IntOrString, *field.Path) field.ErrorList{intOrPercent, atMostWhole} {
		errs = append(errs, judge(down, at.Child("maxUnavailable"))...)
		errs = append(errs, judge(up, at.Child("maxSurge"))...)
	}
	switch {
	case sizeOf(down) != 0 && sizeOf(up) != 0:
		errs = append(errs, field.Invalid(at.Child("maxSurge"), up, "may not be set when maxUnavailable is non-zero"))
	case sizeOf(down) == 0 && sizeOf(up) == 0:
		errs = append(errs, field.Required(at.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func daemonSetStatus(d, old *appsv1.DaemonSet) field.ErrorList {
	s := &d.Status
	errs := counts(0, []count{
		{"currentNumberScheduled", s.CurrentNumberScheduled}, {"numberMisscheduled", s.NumberMisscheduled},
		{"desiredNumberScheduled", s.DesiredNumberScheduled}, {"numberReady", s.NumberReady},
	}, nil)
	errs = append(errs, natural(s.ObservedGeneration, statusPath.Child("observedGeneration"))...)
	errs = append(errs, counts(0, []count{
		{"updatedNumberScheduled", s.UpdatedNumberScheduled}, {"numberAvailable", s.NumberAvailable},
		{"numberUnavailable", s.NumberUnavailable},
	}, nil)...)
	errs = append(errs, naturals(statusPath, "collisionCount", s.CollisionCount)...)
	return append(errs, collisions(s.CollisionCount, old.Status.CollisionCount)...)
}
