package podspec

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// TemplateOf returns the pod template of an object of a built-in kind with its path, or nil if it has none (PSA
// admission/admission.go: DefaultPodSpecExtractor).
func TemplateOf(obj runtime.Object) (t *corev1.PodTemplateSpec, at *field.Path) {
	switch o := obj.(type) {
	case *corev1.PodTemplate:
		return &o.Template, field.NewPath("template")
	case *corev1.ReplicationController:
		return o.Spec.Template, check.TemplatePath
	case *appsv1.ReplicaSet:
		return &o.Spec.Template, check.TemplatePath
	case *appsv1.Deployment:
		return &o.Spec.Template, check.TemplatePath
	case *appsv1.DaemonSet:
		return &o.Spec.Template, check.TemplatePath
	case *appsv1.StatefulSet:
		return &o.Spec.Template, check.TemplatePath
	case *batchv1.Job:
		return &o.Spec.Template, check.TemplatePath
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template, check.SpecPath.Child("jobTemplate", "spec", "template")
	}
	return nil, nil
}

// ValidateTemplate validates a pod template (core ValidatePodTemplateSpec). old is the template before an update, or
// nil or empty on create.
func ValidateTemplate(t, old *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	was := check.ValueOf(old)
	r := NewRules(&t.Spec, LegacyOf(&was.Spec, &was.ObjectMeta))
	spec := at.Child("spec")
	errs := r.TemplateMeta(t, at)
	errs = append(errs, r.Validate(spec)...)
	errs = append(errs, r.ProfilesAgree(&t.ObjectMeta, spec)...)
	return append(errs, check.Forbid(len(t.Spec.EphemeralContainers) > 0, spec.Child("ephemeralContainers"),
		"ephemeral containers not allowed in pod template")...)
}

// TemplateMeta validates labels and annotations.
func (r *Rules) TemplateMeta(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(t.Labels, at.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, at.Child("annotations"))...)
	return append(errs, r.Annotations(t.Annotations, at.Child("annotations"))...)
}

// MatchesSelector requires that the selector matches the template. An empty selector is reported elsewhere.
func MatchesSelector(s labels.Selector, t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	return check.Reject(!s.Matches(labels.Set(t.Labels)), at.Child("metadata", "labels"), t.Labels,
		"`selector` does not match template `labels`")
}

// RestartsAlways requires the restart policy Always.
func RestartsAlways(t *corev1.PodTemplateSpec, kind string, at *field.Path) (errs field.ErrorList) {
	at = at.Child("spec")
	errs = append(errs, check.OneOf(t.Spec.RestartPolicy, at.Child("restartPolicy"),
		[]corev1.RestartPolicy{corev1.RestartPolicyAlways})...)
	return append(errs, check.Forbid(t.Spec.ActiveDeadlineSeconds != nil, at.Child("activeDeadlineSeconds"),
		"activeDeadlineSeconds in "+kind+" is not Supported")...)
}

// Not validated: scale subresources, which are objects of autoscaling/v1, and rollbacks, which have no path.

// SameSelector requires that a selector is unchanged.
func SameSelector(now, was *metav1.LabelSelector) field.ErrorList {
	return check.Immutable(now, was, check.SpecPath.Child("selector"))
}

// Count is a field of a status with a number of pods.
type Count struct {
	Name string
	N    int32
}

// Counts requires that no number in list is negative, and that no number in most exceeds all.
func Counts(all int32, list, most []Count) (errs field.ErrorList) {
	for _, c := range list {
		errs = append(errs, check.Natural(c.N, check.StatusPath.Child(c.Name))...)
	}
	for _, c := range most {
		errs = append(errs, check.Reject(c.N > all, check.StatusPath.Child(c.Name), c.N,
			"cannot be greater than status.replicas")...)
	}
	return errs
}

// AvailableReady rejects more available pods than ready ones.
func AvailableReady(available, ready int32, text string) field.ErrorList {
	return check.Reject(available > ready, check.StatusPath.Child("availableReplicas"), available, text)
}

// SetStatus validates the numbers in the status of ReplicaSets and ReplicationControllers.
func SetStatus(all, labeled, ready, available int32, terminating *int32, generation int64) field.ErrorList {
	parts := []Count{{"fullyLabeledReplicas", labeled}, {"readyReplicas", ready}, {"availableReplicas", available}}
	errs := Counts(all, append([]Count{{"replicas", all}}, parts...), nil)
	errs = append(errs, check.Naturals(check.StatusPath, "terminatingReplicas", terminating)...)
	errs = append(errs, check.Natural(generation, check.StatusPath.Child("observedGeneration"))...)
	errs = append(errs, Counts(all, nil, parts)...)
	return append(errs, AvailableReady(available, ready, "cannot be greater than readyReplicas")...)
}
