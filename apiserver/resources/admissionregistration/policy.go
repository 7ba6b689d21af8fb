package admissionregistration

import (
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// The JSON paths in a policy's status are not validated. Validation does not limit the cost of expressions; evaluation
// does (M-08).

// governing returns the entry of a kind that decides about requests: policies, bindings and configurations of webhooks.
func governing[T any, P interface {
	*T
	entry.Object
}](plural string, setDefaults func(*T), validate func(obj, old *T) field.ErrorList, table entry.Table) *entry.Resource {
	return &entry.Resource{
		Plural: plural, New: entry.New[T, P],
		Storage:    entry.Storage{Governs: true},
		Categories: entry.APIExtensions,
		Strategy: entry.Strategy{
			Generation:  entry.SpecGeneration,
			Conditional: true,
			Metadata:    entry.Metadata{Custom: true},
			Default:     entry.Default(setDefaults),
			Validate:    entry.ValidateChange(validate),
			Warnings:    entry.Warn(reservedName[P]),
		},
		Table: table,
	}
}

func defaultMatchResources(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	check.SetDefault(&m.MatchPolicy, admissionv1.Equivalent)
	check.SetDefault(&m.NamespaceSelector, metav1.LabelSelector{})
	check.SetDefault(&m.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			check.SetDefault(&rules[i].Scope, admissionv1.AllScopes)
		}
	}
}

var (
	// mutatedOperations are the operations of mutating policies. DELETE is not one of them (M-04).
	mutatedOperations = []admissionv1.OperationType{
		admissionv1.OperationAll, admissionv1.Connect, admissionv1.Create, admissionv1.Update,
	}
	missingActions = []admissionv1.ParameterNotFoundActionType{admissionv1.DenyAction, admissionv1.AllowAction}
	celName        = regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$")
	celReserved    = check.Set("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for",
		"function", "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while")
)

// common returns the fields that both kinds of policies have.
func common(s *admissionv1.MutatingAdmissionPolicySpec) *admissionv1.ValidatingAdmissionPolicySpec {
	return &admissionv1.ValidatingAdmissionPolicySpec{ParamKind: s.ParamKind, MatchConstraints: s.MatchConstraints,
		MatchConditions: s.MatchConditions, Variables: s.Variables, FailurePolicy: s.FailurePolicy}
}

// policyFrame validates the common fields of both kinds of policies, except expressions.
func policyFrame(s *admissionv1.ValidatingAdmissionPolicySpec, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Must(s.FailurePolicy, at.Child("failurePolicy"), "", check.Among(failurePolicies...))...)
	errs = append(errs, check.Optional(s.ParamKind, at.Child("paramKind"), paramKind)...)
	constraints := at.Child("matchConstraints")
	if s.MatchConstraints == nil {
		return append(errs, field.Required(constraints, ""))
	}
	rules := s.MatchConstraints.ResourceRules
	errs = append(errs, matchResources(s.MatchConstraints, constraints)...)
	return append(errs, check.Present(len(rules) > 0, constraints.Child("resourceRules"), "")...)
}

// policyExpressions validates match conditions and variables. Match conditions need no validation if they and the
// paramKind are unchanged.
func policyExpressions(
	c *expression.Checker, s, old *admissionv1.ValidatingAdmissionPolicySpec, at *field.Path,
) (errs field.ErrorList) {
	if !check.SamePointee(s.ParamKind, old.ParamKind) || !slices.Equal(s.MatchConditions, old.MatchConditions) {
		errs = matchConditions(c, s.MatchConditions, at.Child("matchConditions"))
	}
	return append(errs, variables(c, s.Variables, at.Child("variables"))...)
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
		errs = append(errs, field.Invalid(at.Child("kind"), k.Kind,
			"may have mixed case, but should otherwise match: "+strings.Join(texts, ",")))
	}
	return errs
}

func matchResources(m *admissionv1.MatchResources, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Must(m.MatchPolicy, at.Child("matchPolicy"), "", check.Among(matchPolicies...))...)
	for _, s := range []struct {
		name     string
		selector *metav1.LabelSelector
	}{{"namespaceSelector", m.NamespaceSelector}, {"objectSelector", m.ObjectSelector}} {
		errs = append(errs, check.Present(s.selector != nil, at.Child(s.name), "")...)
		errs = append(errs, metav1validation.ValidateLabelSelector(s.selector,
			metav1validation.LabelSelectorValidationOptions{}, at.Child(s.name))...)
	}
	errs = append(errs, check.Each(m.ResourceRules, at.Child("resourceRules"), namedRule)...)
	return append(errs, check.Each(m.ExcludeResourceRules, at.Child("excludeResourceRules"), namedRule)...)
}

func namedRule(r *admissionv1.NamedRuleWithOperations, at *field.Path) (errs field.ErrorList) {
	seen := check.Unique[string]{}
	for i, name := range r.ResourceNames {
		at := at.Child("resourceNames").Index(i)
		errs = append(errs, check.PathSegment(name, at)...)
		errs = append(errs, seen.Add(name, at)...)
	}
	return append(errs, operationRule(&r.RuleWithOperations, at)...)
}

func variables(c *expression.Checker, list []admissionv1.Variable, at *field.Path) (errs field.ErrorList) {
	for i, v := range list {
		at := at.Index(i)
		if strings.TrimSpace(v.Name) == "" {
			errs = append(errs, field.Required(at.Child("name"), "name is not specified"))
		} else if !celName.MatchString(v.Name) || celReserved[v.Name] {
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, "must be a valid CEL identifier"))
		}
		if strings.TrimSpace(v.Expression) == "" {
			errs = append(errs, field.Required(at.Child("expression"), "expression is not specified"))
		} else {
			errs = append(errs, compiles(c.Variable(v.Name, v.Expression, at.Child("expression")))...)
		}
	}
	return errs
}

// policyReference validates the common fields of both kinds of bindings.
func policyReference(
	policy string, ref *admissionv1.ParamRef, match *admissionv1.MatchResources, at *field.Path,
) (errs field.ErrorList) {
	errs = check.NonEmpty(policy, at.Child("policyName"), check.DNSSubdomain)
	errs = append(errs, check.Optional(ref, at.Child("paramRef"), paramRef)...)
	return append(errs, check.Optional(match, at.Child("matchResources"), matchResources)...)
}

func paramRef(r *admissionv1.ParamRef, at *field.Path) (errs field.ErrorList) {
	const both = "name and selector are mutually exclusive"
	errs = append(errs, check.PathSegment(r.Name, at.Child("name"))...)
	errs = append(errs, check.Forbid(r.Name != "" && r.Selector != nil, at.Child("name"), both)...)
	if r.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(r.Selector,
			metav1validation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
		errs = append(errs, check.Forbid(r.Name != "", at.Child("selector"), both)...)
	}
	errs = append(errs, check.Present(r.Name != "" || r.Selector != nil, at,
		"one of name or selector must be specified")...)
	action := check.ValueOf(r.ParameterNotFoundAction)
	return append(errs, check.Required(action, at.Child("parameterNotFoundAction"), missingActions)...)
}

func mutableOperations(m *admissionv1.MatchResources, at *field.Path) (errs field.ErrorList) {
	for _, r := range m.ResourceRules {
		for _, o := range r.Operations {
			errs = append(errs, check.OneOf(o, at.Child("resourceRules", "operations"), mutatedOperations)...)
		}
	}
	return errs
}

func shownParamKind(k *admissionv1.ParamKind) string {
	if k == nil {
		return entry.Unset
	}
	return k.APIVersion + "/" + k.Kind
}

func policyBindingColumns() []entry.Column {
	return []entry.Column{
		entry.Text("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
		entry.Text("ParamRef", "ParamRef indicates the param resource which sets the configuration param"),
	}
}

// shownParamRef returns the cell of the column ParamRef. A name without a namespace is shown as "*/name", because a
// binding does not tell whether the params are namespaced. A selector is shown in Go's format.
func shownParamRef(r *admissionv1.ParamRef) string {
	switch {
	case r == nil:
		return entry.Unset
	case r.Name != "":
		return entry.StringOr(r.Namespace, "*") + "/" + r.Name
	case r.Selector != nil:
		return r.Selector.String()
	}
	return entry.Unset
}
