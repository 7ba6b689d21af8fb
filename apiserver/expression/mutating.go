package expression

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Mutating is a compiled MutatingAdmissionPolicy. It is immutable.
type Mutating struct {
	spec        *admissionv1.MutatingAdmissionPolicySpec
	conditions  *Conditions
	patchers    []patch.Patcher
	composition *composition
}

// CompileMutating compiles a policy, which must not be changed afterwards. An expression that does not compile causes
// an error in each evaluation (M-71).
func CompileMutating(spec *admissionv1.MutatingAdmissionPolicySpec) *Mutating {
	c := compositionFor(spec.ParamKind != nil, len(spec.Variables))
	stored := func(a *accessor) plugincel.CompilationResult { return c.compile(a, environment.StoredExpressions) }
	for _, v := range spec.Variables {
		c.add(v.Name, v.Expression, environment.StoredExpressions)
	}
	out := &Mutating{spec: spec, conditions: conditionsOf(spec.MatchConditions, stored, c), composition: c}
	for _, m := range spec.Mutations {
		switch {
		case m.PatchType == admissionv1.PatchTypeJSONPatch && m.JSONPatch != nil:
			e := stored(&accessor{role: JSONPatch, expression: m.JSONPatch.Expression})
			out.patchers = append(out.patchers, patch.NewJSONPatcher(plugincel.NewMutatingEvaluator(e)))
		case m.PatchType == admissionv1.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
			e := stored(&accessor{role: ApplyConfiguration, expression: m.ApplyConfiguration.Expression})
			out.patchers = append(out.patchers, patch.NewApplyConfigurationPatcher(plugincel.NewMutatingEvaluator(e)))
		}
	}
	return out
}

// Match evaluates the match conditions. An error denies the request (M-63).
func (p *Mutating) Match(ctx context.Context, v *Version, b Bindings) Match {
	return p.conditions.Match(ctx, v, b, p.spec.FailurePolicy)
}

// Len returns the number of mutations.
func (p *Mutating) Len() int { return len(p.patchers) }

// Types creates objects of a kind, and returns the kind of an object, for a JSON patch.
type Types interface {
	runtime.ObjectCreater
	runtime.ObjectTyper
}

// Patch evaluates the mutation of an index and returns the changed object, without defaults. It does not modify the
// object in v, and returns it if a test in a JSON patch fails (M-61). converter is for the matched kind.
//
// An error that is a Status is the response. The failure policy applies to other errors (M-61, M-63).
func (p *Mutating) Patch(
	ctx context.Context, index int, v *Version, b Bindings, types Types, converter managedfields.TypeConverter,
) (runtime.Object, error) {
	with, err := p.composition.within(ctx)
	if err != nil {
		return nil, err
	}
	return p.patchers[index].Patch(with, patch.Request{
		MatchedResource: v.Resource, VersionedAttributes: v.typed, ObjectInterfaces: objects{types: types},
		Namespace: b.Namespace, TypeConverter: converter, OptionalVariables: b.optional(),
	}, celconfig.RuntimeCELCostBudget)
}

// objects implements the methods of upstream's ObjectInterfaces that patchers call.
type objects struct {
	admission.ObjectInterfaces
	types Types
}

// GetObjectCreater implements admission.ObjectInterfaces.
func (o objects) GetObjectCreater() runtime.ObjectCreater { return o.types }

// GetObjectTyper implements admission.ObjectInterfaces.
func (o objects) GetObjectTyper() runtime.ObjectTyper { return o.types }
