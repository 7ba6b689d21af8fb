package apps

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func daemonSets() *entry.Resource {
	return &entry.Resource{
		Plural: "daemonsets", New: entry.New[appsv1.DaemonSet], Namespaced: true,
		ShortNames: []string{"ds"}, Categories: entry.All,
		Storage: entry.Storage{Coerce: entry.Coerce(parseTemplateGeneration)},
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultDaemonSet),
			Prepare:    entry.Change(prepareDaemonSet),
			Validate:   entry.ValidateChange(validateDaemonSet),
			Warnings:   podspec.Warnings,
		},
		Subresources: entry.StatusOf(keepDaemonSetStatus, validateDaemonSetStatus),
		Table:        daemonSetTable(),
	}
}

// defaultDaemonSet sets the defaults, such as a rolling update of one node at a time.
func defaultDaemonSet(d *appsv1.DaemonSet) {
	s := &d.Spec.UpdateStrategy
	check.FillDefault(&s.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		check.SetDefault(&s.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		check.SetDefault(&s.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		check.SetDefault(&s.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	check.SetDefault(&d.Spec.RevisionHistoryLimit, 10)
	podspec.DefaultTemplate(&d.Spec.Template)
}

// prepareDaemonSet sets the template's first generation (B-32), unless the client sets it, and increments it if the
// template changes. The template's generation is an annotation in apps/v1, and a field of the spec in upstream's
// internal type.
func prepareDaemonSet(d, old *appsv1.DaemonSet) {
	was := check.ValueOf(old)
	podspec.DropTemplateFields(&d.Spec.Template, &was.Spec.Template)
	generation := max(1, templateGeneration(d))
	if old != nil {
		generation = templateGeneration(old)
		if !apiequality.Semantic.DeepEqual(d.Spec.Template, old.Spec.Template) {
			generation++
		}
	}
	setTemplateGeneration(d, generation)
}

// keepDaemonSetStatus restores the template's generation, which upstream has in the spec.
func keepDaemonSetStatus(d, old *appsv1.DaemonSet) {
	setTemplateGeneration(d, templateGeneration(old))
}

// parseTemplateGeneration returns an error if the generation is not a number (K pkg/apis/apps/v1/conversion.go:
// Convert_v1_DaemonSet_To_apps_DaemonSet).
func parseTemplateGeneration(d *appsv1.DaemonSet) error {
	value, ok := d.Annotations[appsv1.DeprecatedTemplateGeneration]
	if !ok {
		return nil
	}
	_, err := strconv.ParseInt(value, 10, 64)
	return err
}

func templateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0 // for a number out of range, n is the nearest limit
	}
	return n
}

func setTemplateGeneration(d *appsv1.DaemonSet, n int64) {
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, appsv1.DeprecatedTemplateGeneration, strconv.FormatInt(n, 10))
}

// daemonSetSpec validates the spec. The template's generation is an annotation in apps/v1, and a field of the spec in
// upstream's internal type.
func daemonSetSpec(d, old *appsv1.DaemonSet) field.ErrorList {
	s, was, at := &d.Spec, check.ValueOf(old), check.SpecPath.Child("selector")
	allowInvalid := metavalidation.LabelSelectorHasInvalidLabelValue(was.Spec.Selector)
	errs := podspec.ValidateSelector(s.Selector, allowInvalid, at)
	if usable, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil {
		errs = append(errs, podspec.MatchesSelector(usable, &s.Template, check.TemplatePath)...)
	}
	empty := s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0
	errs = append(errs, check.Reject(empty, at, s.Selector, "empty selector is invalid for daemonset")...)
	errs = append(errs, podspec.ValidateTemplate(&s.Template, &was.Spec.Template, check.TemplatePath)...)
	errs = append(errs, podspec.RestartsAlways(&s.Template, "DaemonSet", check.TemplatePath)...)
	errs = append(errs, check.Natural(s.MinReadySeconds, check.SpecPath.Child("minReadySeconds"))...)
	errs = append(errs, check.Natural(templateGeneration(d), check.SpecPath.Child("templateGeneration"))...)
	errs = append(errs, daemonStrategy(&s.UpdateStrategy, check.SpecPath.Child("updateStrategy"))...)
	return append(errs, check.Naturals(check.SpecPath, "revisionHistoryLimit", s.RevisionHistoryLimit)...)
}

// validateDaemonSet requires that the template's generation increases if and only if the template changes.
func validateDaemonSet(d, old *appsv1.DaemonSet) (errs field.ErrorList) {
	if old == nil {
		return daemonSetSpec(d, nil)
	}
	now, was := templateGeneration(d), templateGeneration(old)
	at := check.SpecPath.Child("templateGeneration")
	errs = append(errs, check.Reject(now < was, at, now, "must not be decremented")...)
	changed := !apiequality.Semantic.DeepEqual(d.Spec.Template, old.Spec.Template)
	errs = append(errs, check.Reject(now == was && changed, at, now, "must be incremented upon template update")...)
	errs = append(errs, check.Reject(now > was && !changed, at, now,
		"must not be incremented without template update")...)
	errs = append(errs, daemonSetSpec(d, old)...)
	return append(errs, podspec.SameSelector(d.Spec.Selector, old.Spec.Selector)...)
}

func daemonStrategy(s *appsv1.DaemonSetUpdateStrategy, at *field.Path) (errs field.ErrorList) {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		return field.ErrorList{field.NotSupported(at, *s, []appsv1.DaemonSetUpdateStrategyType{
			appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType,
		})}
	}
	if s.RollingUpdate == nil {
		return check.RequireAll(at, "rollingUpdate", "")
	}
	at = at.Child("rollingUpdate")
	down, up := check.ValueOf(s.RollingUpdate.MaxUnavailable), check.ValueOf(s.RollingUpdate.MaxSurge)
	for _, validate := range []func(intstr.IntOrString, *field.Path) field.ErrorList{
		check.IntOrPercent, check.AtMostWhole,
	} {
		errs = append(errs, validate(down, at.Child("maxUnavailable"))...)
		errs = append(errs, validate(up, at.Child("maxSurge"))...)
	}
	switch {
	case sizeOf(down) != 0 && sizeOf(up) != 0:
		errs = append(errs, field.Invalid(at.Child("maxSurge"), up, "may not be set when maxUnavailable is non-zero"))
	case sizeOf(down) == 0 && sizeOf(up) == 0:
		errs = append(errs, field.Required(at.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateDaemonSetStatus(d, old *appsv1.DaemonSet) field.ErrorList {
	s := &d.Status
	errs := podspec.Counts(0, []podspec.Count{
		{Name: "currentNumberScheduled", N: s.CurrentNumberScheduled}, {Name: "numberMisscheduled", N: s.NumberMisscheduled},
		{Name: "desiredNumberScheduled", N: s.DesiredNumberScheduled}, {Name: "numberReady", N: s.NumberReady},
	}, nil)
	errs = append(errs, check.Natural(s.ObservedGeneration, check.StatusPath.Child("observedGeneration"))...)
	errs = append(errs, podspec.Counts(0, []podspec.Count{
		{Name: "updatedNumberScheduled", N: s.UpdatedNumberScheduled}, {Name: "numberAvailable", N: s.NumberAvailable},
		{Name: "numberUnavailable", N: s.NumberUnavailable},
	}, nil)...)
	errs = append(errs, check.Naturals(check.StatusPath, "collisionCount", s.CollisionCount)...)
	return append(errs, collisions(s.CollisionCount, old.Status.CollisionCount)...)
}

func daemonSetTable() entry.Table {
	status := appsv1.DaemonSetStatus{}.SwaggerDoc()
	return entry.Listed(append([]entry.Column{
		entry.Integer("Desired", status["desiredNumberScheduled"]),
		entry.Integer("Current", status["currentNumberScheduled"]),
		entry.Integer("Ready", status["numberReady"]),
		entry.Integer("Up-to-date", status["updatedNumberScheduled"]),
		entry.Integer("Available", status["numberAvailable"]),
		entry.Text("Node Selector", corev1.PodSpec{}.SwaggerDoc()["nodeSelector"]),
	}, entry.PodColumns(appsv1.DaemonSetSpec{}.SwaggerDoc()["selector"])...), func(d *appsv1.DaemonSet) []any {
		s := &d.Status
		return append([]any{
			int64(s.DesiredNumberScheduled), int64(s.CurrentNumberScheduled), int64(s.NumberReady),
			int64(s.UpdatedNumberScheduled), int64(s.NumberAvailable),
			labels.FormatLabels(d.Spec.Template.Spec.NodeSelector),
		}, entry.PodCells(&d.Spec.Template.Spec, metav1.FormatLabelSelector(d.Spec.Selector))...)
	})
}
