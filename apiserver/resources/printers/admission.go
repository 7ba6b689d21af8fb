package printers

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

func webhookColumns() []Column {
	return []Column{
		nameColumn,
		integer("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration"),
		ageColumn,
	}
}

func mutatingWebhookCells(c *admissionv1.MutatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, int64(len(c.Webhooks)), age(&c.ObjectMeta, now)}
}

func validatingWebhookCells(c *admissionv1.ValidatingWebhookConfiguration, now time.Time) []any {
	return []any{c.Name, int64(len(c.Webhooks)), age(&c.ObjectMeta, now)}
}

func mutatingPolicyColumns() []Column {
	return []Column{
		nameColumn,
		integer("Mutations", "Mutation indicates the number of mutations rules defined in this configuration"),
		text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"),
		ageColumn,
	}
}

func mutatingPolicyCells(p *admissionv1.MutatingAdmissionPolicy, now time.Time) []any {
	return []any{p.Name, int64(len(p.Spec.Mutations)), paramKind(p.Spec.ParamKind), age(&p.ObjectMeta, now)}
}

func validatingPolicyColumns() []Column {
	return []Column{
		nameColumn,
		integer("Validations", "Validations indicates the number of validation rules defined in this configuration"),
		text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"),
		ageColumn,
	}
}

func validatingPolicyCells(p *admissionv1.ValidatingAdmissionPolicy, now time.Time) []any {
	return []any{p.Name, int64(len(p.Spec.Validations)), paramKind(p.Spec.ParamKind), age(&p.ObjectMeta, now)}
}

func paramKind(k *admissionv1.ParamKind) string {
	if k == nil {
		return unset
	}
	return k.APIVersion + "/" + k.Kind
}

func policyBindingColumns() []Column {
	return []Column{
		nameColumn,
		text("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
		text("ParamRef", "ParamRef indicates the param resource which sets the configuration param"),
		ageColumn,
	}
}

func mutatingBindingCells(b *admissionv1.MutatingAdmissionPolicyBinding, now time.Time) []any {
	return []any{b.Name, b.Spec.PolicyName, paramRef(b.Spec.ParamRef), age(&b.ObjectMeta, now)}
}

func validatingBindingCells(b *admissionv1.ValidatingAdmissionPolicyBinding, now time.Time) []any {
	return []any{b.Name, b.Spec.PolicyName, paramRef(b.Spec.ParamRef), age(&b.ObjectMeta, now)}
}

// paramRef shows a name without a namespace as "*/name": the params may be of any namespace, or
// cluster scoped, which isn't known here. A selector prints as its Go text.
func paramRef(r *admissionv1.ParamRef) string {
	switch {
	case r == nil:
		return unset
	case r.Name != "":
		return or(r.Namespace, "*") + "/" + r.Name
	case r.Selector != nil:
		return r.Selector.String()
	}
	return unset
}
