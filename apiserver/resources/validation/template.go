package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// template judges what pods are made of (core ValidatePodTemplateSpec); old is the template before
// an update, nil before there was one. claimed are volumes that each pod will have besides its own.
func template(t, old *corev1.PodTemplateSpec, at *field.Path, claimed ...string) field.ErrorList {
	var had legacy
	if old != nil {
		had = legacyOf(&old.Spec, &old.ObjectMeta)
	}
	r := rules(&t.Spec, had)
	for _, name := range claimed {
		r.mountable[name] = &corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
	}
	spec := at.Child("spec")
	errs := r.templateMeta(t, at)
	errs = append(errs, r.all(spec)...)
	if invalid.Enough(errs) {
		return errs
	}
	errs = append(errs, r.profilesAgree(&t.ObjectMeta, spec)...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(spec.Child("ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return errs
}

// templateMeta judges labels and annotations.
func (r *podRules) templateMeta(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := invalid.Labels(t.Labels, at.Child("labels"))
	errs = append(errs, invalid.Annotations(t.Annotations, at.Child("annotations"))...)
	return append(errs, r.annotations(t.Annotations, at.Child("annotations"))...)
}

// matched wants a template's pods to be selected; an empty selector is reported elsewhere.
func matched(s labels.Selector, t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	if s.Matches(labels.Set(t.Labels)) {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`")}
}

// lasting wants pods that are restarted for ever.
func lasting(t *corev1.PodTemplateSpec, kind string, at *field.Path) (errs field.ErrorList) {
	at = at.Child("spec")
	errs = append(errs, oneOf(t.Spec.RestartPolicy, at.Child("restartPolicy"), []corev1.RestartPolicy{corev1.RestartPolicyAlways})...)
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}

// podTemplate judges templates that are objects of their own.
func podTemplate(t *corev1.PodTemplate) field.ErrorList {
	return template(&t.Template, nil, field.NewPath("template"))
}

func podTemplateUpdate(t, old *corev1.PodTemplate) field.ErrorList {
	return template(&t.Template, &old.Template, field.NewPath("template"))
}
