package admissionregistration

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// mutatingAdmissionPolicyBindings is the entry of MutatingAdmissionPolicyBinding.
func mutatingAdmissionPolicyBindings() *entry.Resource {
	return &entry.Resource{
		Plural: "mutatingadmissionpolicybindings", New: entry.New[admissionv1.MutatingAdmissionPolicyBinding],
		Storage: entry.Storage{
			Governs: true, ToStored: entry.Recast[admissionv1.MutatingAdmissionPolicyBinding],
			FromStored: entry.Recast[admissionv1.MutatingAdmissionPolicyBinding],
		},
		Categories: entry.APIExtensions,
		// v1.36 stores it as v1beta1 (V-008): what is stored may be of another version, and is converted.
		Served: entry.Served{Optional: []entry.Version{
			{GroupVersion: admissionv1beta1.SchemeGroupVersion,
				New:        entry.New[admissionv1beta1.MutatingAdmissionPolicyBinding],
				ToStored:   entry.Recast[admissionv1.MutatingAdmissionPolicyBinding],
				FromStored: entry.Recast[admissionv1beta1.MutatingAdmissionPolicyBinding]},
			{GroupVersion: admissionv1alpha1.SchemeGroupVersion,
				New:        entry.New[admissionv1alpha1.MutatingAdmissionPolicyBinding],
				ToStored:   entry.Recast[admissionv1.MutatingAdmissionPolicyBinding],
				FromStored: entry.Recast[admissionv1alpha1.MutatingAdmissionPolicyBinding]},
		}},
		Strategy: entry.Strategy{
			Generation:     entry.SpecGeneration,
			Conditional:    true,
			Metadata:       entry.Metadata{Custom: true},
			Default:        entry.Default(defaultMutatingAdmissionPolicyBinding),
			Validate:       entry.Validate(validateMutatingBinding),
			ValidateUpdate: entry.ValidateChange(validateMutatingBindingUpdate),
			Warnings:       entry.Warn(reservedName[*admissionv1.MutatingAdmissionPolicyBinding]),
		},
		Table: entry.TableOf(policyBindingColumns(), mutatingBindingCells),
	}
}

// defaultMutatingAdmissionPolicyBinding matches everything that the policy does not exclude.
func defaultMutatingAdmissionPolicyBinding(b *admissionv1.MutatingAdmissionPolicyBinding) {
	defaultMatchResources(b.Spec.MatchResources)
}

func validateMutatingBinding(b *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	at, s := field.NewPath("spec"), &b.Spec
	errs := check.RequireAll(at, "policyName", s.PolicyName)
	errs = append(errs, policyReference(s.PolicyName, s.ParamRef, s.MatchResources, at)...)
	if s.MatchResources != nil {
		errs = append(errs, mutableOperations(s.MatchResources, at.Child("matchResources"))...)
	}
	return errs
}

func validateMutatingBindingUpdate(b, _ *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	return validateMutatingBinding(b)
}

func mutatingBindingCells(b *admissionv1.MutatingAdmissionPolicyBinding, now time.Time) []any {
	return []any{b.Name, b.Spec.PolicyName, shownParamRef(b.Spec.ParamRef), entry.AgeOf(&b.ObjectMeta, now)}
}
