package admissionregistration

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	admissionv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func mutatingAdmissionPolicies() *entry.Resource {
	r := governing("mutatingadmissionpolicies", func(p *admissionv1.MutatingAdmissionPolicy) {
		check.SetDefault(&p.Spec.FailurePolicy, admissionv1.Fail)
		defaultMatchResources(p.Spec.MatchConstraints)
	}, validateMutatingPolicy, mutatingPolicyTable())
	// v1.36 stores the kind as v1beta1 (V-008). Stored objects may have that version, so they are converted.
	r.Storage.ToStored = entry.Recast[admissionv1.MutatingAdmissionPolicy]
	r.Storage.FromStored = entry.Recast[admissionv1.MutatingAdmissionPolicy]
	r.Served.Optional = []entry.Version{
		entry.SameJSON[admissionv1.MutatingAdmissionPolicy, admissionv1beta1.MutatingAdmissionPolicy](
			admissionv1beta1.SchemeGroupVersion),
		entry.SameJSON[admissionv1.MutatingAdmissionPolicy, admissionv1alpha1.MutatingAdmissionPolicy](
			admissionv1alpha1.SchemeGroupVersion),
	}
	return r
}

var patchTypes = []admissionv1.PatchType{admissionv1.PatchTypeApplyConfiguration, admissionv1.PatchTypeJSONPatch}

// validateMutatingPolicy accepts expressions that the old policy has.
func validateMutatingPolicy(p, before *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
	at, s, old := field.NewPath("spec"), &p.Spec, check.ValueOf(before).Spec
	// The expressions always have an object "variables". Those of a ValidatingAdmissionPolicy have it only if the
	// policy has variables.
	c := expression.NewChecker(textsOfMutating(&old)).Policy(s.ParamKind != nil, len(s.Variables), true)
	errs := policyFrame(common(s), at)
	errs = append(errs, check.Optional(s.MatchConstraints, at.Child("matchConstraints"), mutableOperations)...)
	errs = append(errs, policyExpressions(c, common(s), common(&old), at)...)
	errs = append(errs, check.Present(len(s.Mutations) > 0, at.Child("mutations"),
		"mutations must contain at least one item")...)
	for i := range s.Mutations {
		errs = append(errs, mutation(c, &s.Mutations[i], at.Child("mutations").Index(i))...)
	}
	return append(errs, check.Required(s.ReinvocationPolicy, at.Child("reinvocationPolicy"), reinvocationPolicies)...)
}

// mutation requires the expression of the patch type, and rejects the other expression.
func mutation(c *expression.Checker, m *admissionv1.Mutation, at *field.Path) (errs field.ErrorList) {
	const must, mustNot = "must be specified when patchType is ", "must not be specified when patchType is "
	patch, apply := at.Child("jsonPatch"), at.Child("applyConfiguration")
	switch m.PatchType {
	case admissionv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			errs = append(errs, field.Required(patch, must+"JSONPatch"))
		} else {
			text := strings.TrimSpace(m.JSONPatch.Expression)
			errs = append(errs, required(c, expression.JSONPatch, text, "", patch.Child("expression"))...)
		}
		errs = append(errs, check.Reject(m.ApplyConfiguration != nil, apply, "{applyConfiguration}", mustNot+"JSONPatch")...)
	case admissionv1.PatchTypeApplyConfiguration:
		if m.ApplyConfiguration == nil {
			errs = append(errs, field.Required(apply, must+"ApplyConfiguration"))
		} else {
			text := strings.TrimSpace(m.ApplyConfiguration.Expression)
			errs = append(errs, required(c, expression.ApplyConfiguration, text, "", apply.Child("expression"))...)
		}
		errs = append(errs, check.Reject(m.JSONPatch != nil, patch, "{jsonPatch}", mustNot+"ApplyConfiguration")...)
	default:
		errs = append(errs, check.Required(m.PatchType, at.Child("patchType"), patchTypes)...)
	}
	return errs
}

func mutatingPolicyTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Integer("Mutations", "Mutation indicates the number of mutations rules defined in this configuration"),
		entry.Text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"),
	}, func(p *admissionv1.MutatingAdmissionPolicy) []any {
		return []any{int64(len(p.Spec.Mutations)), shownParamKind(p.Spec.ParamKind)}
	})
}
