package admissionregistration

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func validatingAdmissionPolicies() *entry.Resource {
	r := governing("validatingadmissionpolicies", func(p *admissionv1.ValidatingAdmissionPolicy) {
		check.SetDefault(&p.Spec.FailurePolicy, admissionv1.Fail)
		defaultMatchResources(p.Spec.MatchConstraints)
	}, validateValidatingPolicy, validatingPolicyTable())
	r.Subresources = entry.StatusOf(
		entry.KeepMeta[*admissionv1.ValidatingAdmissionPolicy], validateValidatingPolicyStatus)
	return r
}

const (
	maxAuditAnnotations  = 20
	maxAuditAnnotationKB = 5
)

var validationReasons = []metav1.StatusReason{
	metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge,
}

// validateValidatingPolicy accepts expressions that the old policy has.
func validateValidatingPolicy(p, before *admissionv1.ValidatingAdmissionPolicy) field.ErrorList {
	at, s, old := field.NewPath("spec"), &p.Spec, check.ValueOf(before).Spec
	c := expression.NewChecker(textsOfValidating(&old)).Policy(s.ParamKind != nil, len(s.Variables), false)
	errs := append(policyFrame(s, at), policyExpressions(c, s, &old, at)...)
	if len(s.Validations) == 0 && len(s.AuditAnnotations) == 0 {
		const text = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(at.Child("validations"), text), field.Required(at.Child("auditAnnotations"), text))
	}
	for i := range s.Validations {
		errs = append(errs, policyValidation(c, &s.Validations[i], at.Child("validations").Index(i))...)
	}
	audits := at.Child("auditAnnotations")
	errs = append(errs, check.Reject(len(s.AuditAnnotations) > maxAuditAnnotations, audits, s.AuditAnnotations,
		fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations))...)
	keys := check.Unique[string]{}
	for i, a := range s.AuditAnnotations {
		errs = append(errs, auditAnnotation(c, p.Name, a, audits.Index(i))...)
		errs = append(errs, keys.Add(a.Key, audits.Index(i).Child("key"))...)
	}
	return errs
}

func policyValidation(c *expression.Checker, v *admissionv1.Validation, at *field.Path) field.ErrorList {
	errs := required(c, expression.Validation, v.Expression, "expression is not specified", at.Child("expression"))
	message := at.Child("messageExpression")
	switch {
	case v.MessageExpression == "":
	case strings.TrimSpace(v.MessageExpression) == "":
		errs = append(errs, field.Invalid(message, v.MessageExpression, "must be non-empty if specified"))
	default:
		errs = append(errs, compiles(c.Check(expression.Message, v.MessageExpression, message))...)
	}
	if trimmed := strings.TrimSpace(v.Message); v.Message != "" && trimmed == "" {
		errs = append(errs, field.Invalid(at.Child("message"), v.Message, "message must be non-empty if specified"))
	} else if strings.ContainsAny(trimmed, "\n\r") {
		errs = append(errs, field.Invalid(at.Child("message"), v.Message, "message must not contain line breaks"))
	}
	return append(errs, check.GivenOneOf(v.Reason, at.Child("reason"), validationReasons)...)
}

func auditAnnotation(
	c *expression.Checker, policy string, a admissionv1.AuditAnnotation, at *field.Path,
) (errs field.ErrorList) {
	if policy == "" {
		errs = append(errs, field.Invalid(at.Child("key"), a.Key, "requires metadata.name be non-empty"))
	} else {
		errs = append(errs, check.QualifiedName(policy+"/"+a.Key, at.Child("key"))...)
	}
	value, at := strings.TrimSpace(a.ValueExpression), at.Child("valueExpression")
	switch {
	case value == "":
		errs = append(errs, field.Required(at, "valueExpression is not specified"))
	case len(value) > maxAuditAnnotationKB<<10:
		errs = append(errs, field.Required(at, fmt.Sprintf("must not exceed %d bytes in length", maxAuditAnnotationKB<<10)))
	default:
		err := c.Check(expression.Annotation, value, at)
		if err != nil && err.Type == field.ErrorTypeInvalid {
			err.BadValue = a.ValueExpression // the error has the spaces around the expression
		}
		errs = append(errs, compiles(err)...)
	}
	return errs
}

func validateValidatingPolicyStatus(p, _ *admissionv1.ValidatingAdmissionPolicy) (errs field.ErrorList) {
	at := field.NewPath("status")
	if c := p.Status.TypeChecking; c != nil {
		for i, w := range c.ExpressionWarnings {
			at := at.Child("typeChecking", "expressionWarnings").Index(i)
			errs = append(errs, check.RequireAll(at, "warning", w.Warning, "fieldRef", strings.TrimSpace(w.FieldRef))...)
		}
	}
	return append(errs, v1validation.ValidateConditions(p.Status.Conditions, at.Child("conditions"))...)
}

func validatingPolicyTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Integer("Validations", "Validations indicates the number of validation rules defined in this configuration"),
		entry.Text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"),
	}, func(p *admissionv1.ValidatingAdmissionPolicy) []any {
		return []any{int64(len(p.Spec.Validations)), shownParamKind(p.Spec.ParamKind)}
	})
}
