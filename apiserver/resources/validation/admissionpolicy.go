package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

const (
	maxAuditAnnotations  = 20
	maxAuditAnnotationKB = 5
)

var (
	validationActions = []admissionv1.ValidationAction{admissionv1.Audit, admissionv1.Deny, admissionv1.Warn}
	validationReasons = []metav1.StatusReason{metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge}
	mutatedOperations = []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}
	patchTypes        = []admissionv1.PatchType{admissionv1.PatchTypeApplyConfiguration, admissionv1.PatchTypeJSONPatch}
	missingActions    = []admissionv1.ParameterNotFoundActionType{admissionv1.DenyAction, admissionv1.AllowAction}
	celName           = regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$")
	celReserved       = set("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
		"import", "let", "loop", "package", "namespace", "return", "var", "void", "while")
)

func validatingPolicy(p *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	return validatingPolicyOver(p, false)
}

func validatingPolicyUpdate(p, old *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	return validatingPolicyOver(p, sameConditions(p.Spec.ParamKind, old.Spec.ParamKind, p.Spec.MatchConditions, old.Spec.MatchConditions))
}

// sameConditions says that match conditions need no judgement again.
func sameConditions(now, was *admissionv1.ParamKind, conditions, old []admissionv1.MatchCondition) bool {
	return same(now, was) && slices.Equal(conditions, old)
}

func validatingPolicyOver(p *admissionv1.ValidatingAdmissionPolicy, conditionsKept bool) field.ErrorList {
	at, s := field.NewPath("spec"), &p.Spec
	errs := policyFrame(s.FailurePolicy, s.ParamKind, s.MatchConstraints, at)
	if !conditionsKept {
		errs = append(errs, matchConditions(s.MatchConditions, at.Child("matchConditions"))...)
	}
	errs = append(errs, variables(s.Variables, at.Child("variables"))...)
	if len(s.Validations) == 0 && len(s.AuditAnnotations) == 0 {
		const text = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(at.Child("validations"), text), field.Required(at.Child("auditAnnotations"), text))
	}
	for i := range invalid.Each(s.Validations, &errs) {
		errs = append(errs, policyValidation(&s.Validations[i], at.Child("validations").Index(i))...)
	}
	audits := at.Child("auditAnnotations")
	if len(s.AuditAnnotations) > maxAuditAnnotations {
		errs = append(errs, field.Invalid(audits, internal(s.AuditAnnotations), fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations)))
	}
	keys := map[string]bool{}
	for i, a := range invalid.Each(s.AuditAnnotations, &errs) {
		errs = append(errs, auditAnnotation(p.Name, a, audits.Index(i))...)
		if keys[a.Key] {
			errs = append(errs, field.Duplicate(audits.Index(i).Child("key"), a.Key))
		}
		keys[a.Key] = true
	}
	return errs
}

// policyFrame judges what both kinds of policies have.
func policyFrame(failure *admissionv1.FailurePolicyType, kind *admissionv1.ParamKind, match *admissionv1.MatchResources, at *field.Path) (errs field.ErrorList) {
	if failure == nil {
		errs = append(errs, field.Required(at.Child("failurePolicy"), ""))
	} else {
		errs = append(errs, oneOf(*failure, at.Child("failurePolicy"), failurePolicies)...)
	}
	if kind != nil {
		errs = append(errs, paramKind(kind, at.Child("paramKind"))...)
	}
	constraints := at.Child("matchConstraints")
	if match == nil {
		return append(errs, field.Required(constraints, ""))
	}
	errs = append(errs, matchResources(match, constraints)...)
	if len(match.ResourceRules) == 0 {
		errs = append(errs, field.Required(constraints.Child("resourceRules"), ""))
	}
	return errs
}

func paramKind(k *admissionv1.ParamKind, at *field.Path) (errs field.ErrorList) {
	version := at.Child("apiVersion")
	gv, err := schema.ParseGroupVersion(k.APIVersion)
	switch {
	case k.APIVersion == "":
		errs = append(errs, field.Required(version, ""))
	case err != nil:
		errs = append(errs, field.Invalid(version, k.APIVersion, err.Error()))
	default:
		if texts := utilvalidation.IsDNS1123Subdomain(gv.Group); gv.Group != "" && len(texts) > 0 {
			errs = append(errs, field.Invalid(version, gv.Group, strings.Join(texts, ",")))
		}
		if gv.Version == "" {
			errs = append(errs, field.Invalid(version, k.APIVersion, "version must be specified"))
		} else if texts := utilvalidation.IsDNS1035Label(gv.Version); len(texts) > 0 {
			errs = append(errs, field.Invalid(version, gv.Version, strings.Join(texts, ",")))
		}
	}
	if k.Kind == "" {
		errs = append(errs, field.Required(at.Child("kind"), ""))
	} else if texts := utilvalidation.IsDNS1035Label(strings.ToLower(k.Kind)); len(texts) > 0 {
		errs = append(errs, field.Invalid(at.Child("kind"), k.Kind, "may have mixed case, but should otherwise match: "+strings.Join(texts, ",")))
	}
	return errs
}

func matchResources(m *admissionv1.MatchResources, at *field.Path) (errs field.ErrorList) {
	if m.MatchPolicy == nil {
		errs = append(errs, field.Required(at.Child("matchPolicy"), ""))
	} else {
		errs = append(errs, oneOf(*m.MatchPolicy, at.Child("matchPolicy"), matchPolicies)...)
	}
	for _, s := range []struct {
		name     string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", m.NamespaceSelector}, {"objectSelector", m.ObjectSelector}} {
		if s.selector == nil {
			errs = append(errs, field.Required(at.Child(s.name), ""))
		}
		errs = append(errs, invalid.Selector(s.selector, metav1validation.LabelSelectorValidationOptions{}, at.Child(s.name))...)
	}
	for i := range invalid.Each(m.ResourceRules, &errs) {
		errs = append(errs, namedRule(&m.ResourceRules[i], at.Child("resourceRules").Index(i))...)
	}
	for i := range invalid.Each(m.ExcludeResourceRules, &errs) {
		errs = append(errs, namedRule(&m.ExcludeResourceRules[i], at.Child("excludeResourceRules").Index(i))...)
	}
	return errs
}

func namedRule(r *admissionv1.NamedRuleWithOperations, at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, name := range invalid.Each(r.ResourceNames, &errs) {
		at := at.Child("resourceNames").Index(i)
		errs = append(errs, judge(name, at, content.IsPathSegmentName)...)
		if seen[name] {
			errs = append(errs, field.Duplicate(at, name))
		}
		seen[name] = true
	}
	return append(errs, operationRule(&r.RuleWithOperations, at)...)
}

func variables(list []admissionv1.Variable, at *field.Path) (errs field.ErrorList) {
	for i, v := range invalid.Each(list, &errs) {
		at := at.Index(i)
		if strings.TrimSpace(v.Name) == "" {
			errs = append(errs, field.Required(at.Child("name"), "name is not specified"))
		} else if !celName.MatchString(v.Name) || celReserved[v.Name] {
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, "name is not a valid CEL identifier"))
		}
		if strings.TrimSpace(v.Expression) == "" {
			errs = append(errs, field.Required(at.Child("expression"), "expression is not specified"))
		}
	}
	return errs
}

func policyValidation(v *admissionv1.Validation, at *field.Path) (errs field.ErrorList) {
	if strings.TrimSpace(v.Expression) == "" {
		errs = append(errs, field.Required(at.Child("expression"), "expression is not specified"))
	}
	if v.MessageExpression != "" && strings.TrimSpace(v.MessageExpression) == "" {
		errs = append(errs, field.Invalid(at.Child("messageExpression"), v.MessageExpression, "must be non-empty if specified"))
	}
	if trimmed := strings.TrimSpace(v.Message); v.Message != "" && trimmed == "" {
		errs = append(errs, field.Invalid(at.Child("message"), v.Message, "message must be non-empty if specified"))
	} else if strings.ContainsAny(trimmed, "\n\r") {
		errs = append(errs, field.Invalid(at.Child("message"), v.Message, "message must not contain line breaks"))
	}
	if v.Reason != nil {
		errs = append(errs, oneOf(*v.Reason, at.Child("reason"), validationReasons)...)
	}
	return errs
}

func auditAnnotation(policy string, a admissionv1.AuditAnnotation, at *field.Path) (errs field.ErrorList) {
	if policy == "" {
		errs = append(errs, field.Invalid(at.Child("key"), a.Key, "requires metadata.name be non-empty"))
	} else {
		errs = append(errs, qualified(policy+"/"+a.Key, at.Child("key"))...)
	}
	switch value := strings.TrimSpace(a.ValueExpression); {
	case value == "":
		errs = append(errs, field.Required(at.Child("valueExpression"), "valueExpression is not specified"))
	case len(value) > maxAuditAnnotationKB<<10:
		errs = append(errs, field.Required(at.Child("valueExpression"), fmt.Sprintf("must not exceed %d bytes in length", maxAuditAnnotationKB<<10)))
	}
	return errs
}

func validatingPolicyStatus(p, _ *admissionv1.ValidatingAdmissionPolicy) (errs field.ErrorList) {
	at := field.NewPath("status")
	if c := p.Status.TypeChecking; c != nil {
		for i, w := range invalid.Each(c.ExpressionWarnings, &errs) {
			at := at.Child("typeChecking", "expressionWarnings").Index(i)
			errs = append(errs, given(at, "warning", w.Warning, "fieldRef", strings.TrimSpace(w.FieldRef))...)
		}
	}
	return append(errs, invalid.Conditions(p.Status.Conditions, at.Child("conditions"))...)
}

func validatingBinding(b *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	at, s := field.NewPath("spec"), &b.Spec
	// The misspelt path is upstream's.
	errs := policyReference(s.PolicyName, s.ParamRef, s.MatchResources, at.Child("matchResouces"), at)
	actions := at.Child("validationActions")
	for i, a := range invalid.Each(s.ValidationActions, &errs) {
		errs = append(errs, oneOf(a, actions.Index(i), validationActions)...)
		if slices.Contains(s.ValidationActions[:i], a) {
			errs = append(errs, field.Duplicate(actions.Index(i), a))
		}
	}
	if slices.Contains(s.ValidationActions, admissionv1.Deny) && slices.Contains(s.ValidationActions, admissionv1.Warn) {
		errs = append(errs, field.Invalid(actions, s.ValidationActions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"))
	}
	if len(s.ValidationActions) == 0 {
		errs = append(errs, field.Required(actions, "at least one validation action is required"))
	}
	return errs
}

func validatingBindingUpdate(b, _ *admissionv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	return validatingBinding(b)
}

// policyReference judges what both kinds of bindings have.
func policyReference(policy string, ref *admissionv1.ParamRef, match *admissionv1.MatchResources, matchAt, at *field.Path) (errs field.ErrorList) {
	if policy == "" {
		errs = append(errs, field.Required(at.Child("policyName"), ""))
	} else {
		errs = append(errs, judge(policy, at.Child("policyName"), whole(apivalidation.NameIsDNSSubdomain))...)
	}
	if ref != nil {
		errs = append(errs, paramRef(ref, at.Child("paramRef"))...)
	}
	if match != nil {
		errs = append(errs, matchResources(match, matchAt)...)
	}
	return errs
}

func paramRef(r *admissionv1.ParamRef, at *field.Path) (errs field.ErrorList) {
	const both = "name and selector are mutually exclusive"
	if r.Name != "" {
		errs = append(errs, judge(r.Name, at.Child("name"), content.IsPathSegmentName)...)
		if r.Selector != nil {
			errs = append(errs, field.Forbidden(at.Child("name"), both))
		}
	}
	if r.Selector != nil {
		errs = append(errs, invalid.Selector(r.Selector, metav1validation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
		if r.Name != "" {
			errs = append(errs, field.Forbidden(at.Child("selector"), both))
		}
	}
	if r.Name == "" && r.Selector == nil {
		errs = append(errs, field.Required(at, "one of name or selector must be specified"))
	}
	action := admissionv1.ParameterNotFoundActionType("")
	if r.ParameterNotFoundAction != nil {
		action = *r.ParameterNotFoundAction
	}
	return append(errs, required(action, at.Child("parameterNotFoundAction"), missingActions)...)
}

func mutatingPolicy(p *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
	return mutatingPolicyOver(p, false)
}

func mutatingPolicyUpdate(p, old *admissionv1.MutatingAdmissionPolicy) field.ErrorList {
	return mutatingPolicyOver(p, sameConditions(p.Spec.ParamKind, old.Spec.ParamKind, p.Spec.MatchConditions, old.Spec.MatchConditions))
}

func mutatingPolicyOver(p *admissionv1.MutatingAdmissionPolicy, conditionsKept bool) field.ErrorList {
	at, s := field.NewPath("spec"), &p.Spec
	errs := policyFrame(s.FailurePolicy, s.ParamKind, s.MatchConstraints, at)
	if s.MatchConstraints != nil {
		errs = append(errs, mutableOperations(s.MatchConstraints, at.Child("matchConstraints"))...)
	}
	if !conditionsKept {
		errs = append(errs, matchConditions(s.MatchConditions, at.Child("matchConditions"))...)
	}
	errs = append(errs, variables(s.Variables, at.Child("variables"))...)
	if len(s.Mutations) == 0 {
		errs = append(errs, field.Required(at.Child("mutations"), "mutations must contain at least one item"))
	}
	for i := range invalid.Each(s.Mutations, &errs) {
		errs = append(errs, mutation(&s.Mutations[i], at.Child("mutations").Index(i))...)
	}
	return append(errs, required(s.ReinvocationPolicy, at.Child("reinvocationPolicy"), reinvocationPolicies)...)
}

func mutableOperations(m *admissionv1.MatchResources, at *field.Path) (errs field.ErrorList) {
	for _, r := range invalid.Each(m.ResourceRules, &errs) {
		for _, o := range invalid.Each(r.Operations, &errs) {
			errs = append(errs, oneOf(o, at.Child("resourceRules", "operations"), mutatedOperations)...)
		}
	}
	return errs
}

// mutation wants the one expression that its type says.
func mutation(m *admissionv1.Mutation, at *field.Path) (errs field.ErrorList) {
	const must, mustNot = "must be specified when patchType is ", "must not be specified when patchType is "
	patch, apply := at.Child("jsonPatch"), at.Child("applyConfiguration")
	switch m.PatchType {
	case admissionv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			errs = append(errs, field.Required(patch, must+"JSONPatch"))
		} else {
			errs = append(errs, given(patch, "expression", strings.TrimSpace(m.JSONPatch.Expression))...)
		}
		if m.ApplyConfiguration != nil {
			errs = append(errs, field.Invalid(apply, "{applyConfiguration}", mustNot+"JSONPatch"))
		}
	case admissionv1.PatchTypeApplyConfiguration:
		if m.ApplyConfiguration == nil {
			errs = append(errs, field.Required(apply, must+"ApplyConfiguration"))
		} else {
			errs = append(errs, given(apply, "expression", strings.TrimSpace(m.ApplyConfiguration.Expression))...)
		}
		if m.JSONPatch != nil {
			errs = append(errs, field.Invalid(patch, "{jsonPatch}", mustNot+"ApplyConfiguration"))
		}
	default:
		errs = append(errs, required(m.PatchType, at.Child("patchType"), patchTypes)...)
	}
	return errs
}

func mutatingBinding(b *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	at, s := field.NewPath("spec"), &b.Spec
	errs := policyReference(s.PolicyName, s.ParamRef, s.MatchResources, at.Child("matchResources"), at)
	if s.MatchResources != nil {
		errs = append(errs, mutableOperations(s.MatchResources, at.Child("matchResources"))...)
	}
	return errs
}

func mutatingBindingUpdate(b, _ *admissionv1.MutatingAdmissionPolicyBinding) field.ErrorList {
	return mutatingBinding(b)
}
