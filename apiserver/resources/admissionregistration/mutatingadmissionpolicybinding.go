package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func mutatingAdmissionPolicyBindings() *entry.Resource {
	r := governing("mutatingadmissionpolicybindings", func(b *admissionv1.MutatingAdmissionPolicyBinding) {
		defaultMatchResources(b.Spec.MatchResources)
	}, validateMutatingBinding, entry.Listed(policyBindingColumns(),
		func(b *admissionv1.MutatingAdmissionPolicyBinding) []any {
			return []any{b.Spec.PolicyName, shownParamRef(b.Spec.ParamRef)}
		}))
	// v1.36 stores the kind as v1beta1 (V-008). Stored objects may have that version, so they are converted.
	r.Storage.ToStored = entry.Recast[admissionv1.MutatingAdmissionPolicyBinding]
	r.Storage.FromStored = entry.Recast[admissionv1.MutatingAdmissionPolicyBinding]
	r.Served.Optional = []entry.Version{
		entry.SameJSON[admissionv1.MutatingAdmissionPolicyBinding, admissionv1beta1.MutatingAdmissionPolicyBinding](
			admissionv1beta1.SchemeGroupVersion),
		entry.SameJSON[admissionv1.MutatingAdmissionPolicyBinding, admissionv1alpha1.MutatingAdmissionPolicyBinding](
			admissionv1alpha1.SchemeGroupVersion),
	}
	return r
}

func validateMutatingBinding(b, _ *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	at, s := field.NewPath("spec"), &b.Spec
	errs := check.RequireAll(at, "policyName", s.PolicyName)
	errs = append(errs, policyReference(s.PolicyName, s.ParamRef, s.MatchResources, at)...)
	return append(errs, check.Optional(s.MatchResources, at.Child("matchResources"), mutableOperations)...)
}
