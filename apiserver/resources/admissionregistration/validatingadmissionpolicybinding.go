package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func validatingAdmissionPolicyBindings() *entry.Resource {
	return governing("validatingadmissionpolicybindings", func(b *admissionv1.ValidatingAdmissionPolicyBinding) {
		defaultMatchResources(b.Spec.MatchResources)
	}, validateValidatingBinding, entry.Listed(policyBindingColumns(),
		func(b *admissionv1.ValidatingAdmissionPolicyBinding) []any {
			return []any{b.Spec.PolicyName, shownParamRef(b.Spec.ParamRef)}
		}))
}

var validationActions = []admissionv1.ValidationAction{admissionv1.Audit, admissionv1.Deny, admissionv1.Warn}

func validateValidatingBinding(b, _ *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	at, s := field.NewPath("spec"), &b.Spec
	errs := policyReference(s.PolicyName, s.ParamRef, s.MatchResources, at)
	actions, given := at.Child("validationActions"), check.Unique[admissionv1.ValidationAction]{}
	for i, a := range s.ValidationActions {
		errs = append(errs, check.OneOf(a, actions.Index(i), validationActions)...)
		errs = append(errs, given.Add(a, actions.Index(i))...)
	}
	return append(errs, check.Reject(given[admissionv1.Deny] && given[admissionv1.Warn], actions, s.ValidationActions,
		"must not contain both Deny and Warn (repeating the same validation failure information in the API response and "+
			"headers serves no purpose)")...)
}
