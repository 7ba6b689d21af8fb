package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// maxTypes is the number of types after which the search in a rule stops (ASP validating/typechecking.go).
const maxTypes = 10

// Schemas has functions for the served types.
type Schemas struct {
	// KindsOf returns the kinds of a resource. It returns none if the resource is not served.
	KindsOf func(schema.GroupVersionResource) []schema.GroupVersionKind
	// SchemaOf returns the schema of a kind without references (see Resolve), or nil if it has none.
	SchemaOf func(schema.GroupVersionKind) *spec.Schema
}

// CheckTypes returns the warnings for status.typeChecking of a policy, or nil. It compiles the validations and their
// messages with the types of the resources in the policy's rules (M-53; ASP validating/typechecking.go).
func CheckTypes(
	s *admissionv1.ValidatingAdmissionPolicySpec, served Schemas,
) (warnings []admissionv1.ExpressionWarning) {
	checks := checksOf(s, served)
	if len(checks) == 0 {
		return nil
	}
	add := func(expression string, at *field.Path) {
		var found []string
		for _, c := range checks {
			if issues := c.issues(expression); issues != "" {
				found = append(found, fmt.Sprintf("%v: %s\n", c.kind, issues))
			}
		}
		if len(found) > 0 {
			warnings = append(warnings, admissionv1.ExpressionWarning{
				FieldRef: at.String(), Warning: strings.Join(found, "\n"),
			})
		}
	}
	validations := field.NewPath("spec", "validations")
	for i, v := range s.Validations {
		add(v.Expression, validations.Index(i).Child("expression"))
		if v.MessageExpression != "" {
			add(v.MessageExpression, validations.Index(i).Child("messageExpression"))
		}
	}
	return warnings
}

// typeCheck is the environment for the expressions of a policy with objects of one kind.
type typeCheck struct {
	kind schema.GroupVersionKind
	env  *cel.Env
	err  error
}

// issues returns the errors of an expression, or an empty string.
func (c *typeCheck) issues(expression string) string {
	if c.err != nil {
		return fmt.Sprintf("type checking error: %v", c.err)
	}
	if _, issues := c.env.Compile(expression); issues != nil {
		return issues.String()
	}
	return ""
}

// checksOf returns a check for each kind with a schema. A failure to make its environment is an error of each
// expression.
func checksOf(s *admissionv1.ValidatingAdmissionPolicySpec, served Schemas) (checks []typeCheck) {
	var params *apiservercel.DeclType
	if kind := paramKind(s); !kind.Empty() {
		params, _ = typeOf(kind, served, "1")
	}
	for _, kind := range kindsOf(s.MatchConstraints, served) {
		if object, ok := typeOf(kind, served, "0"); ok {
			c := typeCheck{kind: kind}
			c.env, c.err = typedEnvironment(s, object, params)
			checks = append(checks, c)
		}
	}
	return checks
}

// typeOf returns the type of a kind. t is nil if its fields are unknown. ok is false if it has no schema. The suffix
// makes the name of the type unique. Upstream uses the time.
func typeOf(kind schema.GroupVersionKind, served Schemas, suffix string) (t *apiservercel.DeclType, ok bool) {
	s := served.SchemaOf(kind)
	if s == nil {
		return nil, false
	}
	if t = common.SchemaDeclType(&openapi.Schema{Schema: s}, true); t != nil {
		t = t.MaybeAssignTypeName(kind.Kind + suffix)
	}
	return t, true
}

func paramKind(s *admissionv1.ValidatingAdmissionPolicySpec) schema.GroupVersionKind {
	if s.ParamKind == nil {
		return schema.GroupVersionKind{}
	}
	gv, err := schema.ParseGroupVersion(s.ParamKind.APIVersion)
	if err != nil {
		return schema.GroupVersionKind{}
	}
	return gv.WithKind(s.ParamKind.Kind)
}

// typedEnvironment returns an environment with typed objects and the policy's variables. Like upstream's, it does not
// declare authorizer.requestResource.
func typedEnvironment(
	s *admissionv1.ValidatingAdmissionPolicySpec, object, params *apiservercel.DeclType,
) (*cel.Env, error) {
	request, namespace := requestTypes()
	with := environment.VersionedOptions{
		IntroducedVersion: always, DeclTypes: []*apiservercel.DeclType{request, namespace},
		EnvOptions: []cel.EnvOption{
			cel.Variable(plugincel.RequestVarName, request.CelType()),
			cel.Variable(plugincel.NamespaceVarName, namespace.CelType()),
			cel.Variable(plugincel.AuthorizerVarName, library.AuthorizerType),
		},
	}
	declare := func(t *apiservercel.DeclType, names ...string) {
		typ := cel.DynType
		if t != nil {
			typ, with.DeclTypes = t.CelType(), append(with.DeclTypes, t)
		}
		for _, name := range names {
			with.EnvOptions = append(with.EnvOptions, cel.Variable(name, typ))
		}
	}
	declare(object, plugincel.ObjectVarName, plugincel.OldObjectVarName)
	if !paramKind(s).Empty() {
		declare(params, plugincel.ParamsVarName)
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(with)
	if err != nil {
		return nil, err
	}
	return withVariables(set, s.Variables)
}

// withVariables declares a policy's variables. One that does not compile may have any type.
func withVariables(set *environment.EnvSet, variables []admissionv1.Variable) (*cel.Env, error) {
	composed, err := plugincel.NewCompositedCompilerForTypeChecking(set)
	if err != nil {
		return nil, err
	}
	env, err := composed.Env(environment.StoredExpressions)
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		variable := plugincel.CompilationResult{ExpressionAccessor: &accessor{role: Variable, name: v.Name}}
		if ast, issues := env.Compile(v.Expression); issues == nil {
			variable.OutputType = ast.OutputType()
		}
		store(composed, variable)
	}
	return env, nil
}

// kindsOf returns the kinds of the rules' resources without wildcards, sorted by group, version and kind. It skips
// subresources.
func kindsOf(m *admissionv1.MatchResources, served Schemas) (kinds []schema.GroupVersionKind) {
	if m == nil {
		return nil
	}
	for i := range m.ResourceRules {
		found, enough := kindsOfRule(&m.ResourceRules[i].Rule, served)
		if kinds = append(kinds, found...); enough {
			break // like upstream, skip the other rules
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
	})
	return slices.Compact(kinds)
}

// kindsOfRule returns up to maxTypes kinds. enough reports whether the limit is reached.
func kindsOfRule(r *admissionv1.Rule, served Schemas) (kinds []schema.GroupVersionKind, enough bool) {
	wild := func(s string) bool { return strings.Contains(s, "*") }
	if slices.ContainsFunc(r.APIGroups, wild) || slices.ContainsFunc(r.APIVersions, wild) {
		return nil, false
	}
	for _, group := range slices.Sorted(slices.Values(r.APIGroups)) {
		for _, version := range slices.Sorted(slices.Values(r.APIVersions)) {
			for _, resource := range slices.Sorted(slices.Values(r.Resources)) {
				if strings.ContainsAny(resource, "*/") {
					continue
				}
				gvr := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
				for _, kind := range served.KindsOf(gvr) {
					if kinds = append(kinds, kind); len(kinds) == maxTypes {
						return kinds, true
					}
				}
			}
		}
	}
	return kinds, false
}
