package podspec

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// ValidateTemplate validates a pod template (core ValidatePodTemplateSpec); old is the template before an update, nil
// on create.
func ValidateTemplate(t, old *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	var had Legacy
	if old != nil {
		had = LegacyOf(&old.Spec, &old.ObjectMeta)
	}
	r := NewRules(&t.Spec, had)
	spec := at.Child("spec")
	errs := r.TemplateMeta(t, at)
	errs = append(errs, r.Validate(spec)...)
	errs = append(errs, r.ProfilesAgree(&t.ObjectMeta, spec)...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(spec.Child("ephemeralContainers"),
			"ephemeral containers not allowed in pod template"))
	}
	return errs
}

// TemplateMeta validates labels and annotations.
func (r *Rules) TemplateMeta(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := v1validation.ValidateLabels(t.Labels, at.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, at.Child("annotations"))...)
	return append(errs, r.Annotations(t.Annotations, at.Child("annotations"))...)
}

// MatchesSelector requires that the selector matches the template; an empty selector is reported elsewhere.
func MatchesSelector(s labels.Selector, t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	if s.Matches(labels.Set(t.Labels)) {
		return nil
	}
	return field.ErrorList{
		field.Invalid(at.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`"),
	}
}

// RestartsAlways requires the restart policy Always.
func RestartsAlways(t *corev1.PodTemplateSpec, kind string, at *field.Path) (errs field.ErrorList) {
	at = at.Child("spec")
	errs = append(errs, check.OneOf(t.Spec.RestartPolicy, at.Child("restartPolicy"),
		[]corev1.RestartPolicy{corev1.RestartPolicyAlways})...)
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("activeDeadlineSeconds"),
			"activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}
