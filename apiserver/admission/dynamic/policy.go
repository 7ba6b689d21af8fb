package dynamic

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/expression"
)

// policy is a ValidatingAdmissionPolicy or MutatingAdmissionPolicy. The first evaluation compiles its expressions.
type policy struct {
	name string
	// params is the paramKind. It is nil if the policy has none.
	params *schema.GroupVersionKind
	// failOpen reports whether errors are ignored (failurePolicy Ignore).
	failOpen bool
	// reinvoke reports whether later changes cause another evaluation (reinvocationPolicy IfNeeded).
	reinvoke bool
	matching *matching
	// validating is set for a ValidatingAdmissionPolicy, mutating for a MutatingAdmissionPolicy.
	validating func() *expression.Validating
	mutating   func() *expression.Mutating
}

// binding is a ValidatingAdmissionPolicyBinding or MutatingAdmissionPolicyBinding.
type binding struct {
	name, policy string
	// matching is nil if the binding matches all requests that its policy matches.
	matching *matching
	// ref is the paramRef, and selector its label selector. Each is nil if there is none.
	ref      *admissionv1.ParamRef
	selector labels.Selector
	// invalid is the error of the label selector, or nil.
	invalid error
	// actions are the validationActions of a ValidatingAdmissionPolicyBinding.
	actions []admissionv1.ValidationAction
}

// matching is a MatchResources with parsed selectors.
type matching struct {
	namespaces, objects labels.Selector
	// invalid is the reason why the policy or binding can't be evaluated, or nil (M-19).
	invalid         error
	excluded, rules []admissionv1.NamedRuleWithOperations
	equivalent      bool
}

func readValidatingPolicy(obj runtime.Object) (any, error) {
	p := obj.(*admissionv1.ValidatingAdmissionPolicy)
	out, err := newPolicy(p.Name, p.Spec.ParamKind, p.Spec.FailurePolicy, p.Spec.MatchConstraints)
	if err != nil {
		return nil, err
	}
	out.validating = sync.OnceValue(func() *expression.Validating { return expression.CompileValidating(&p.Spec) })
	return out, nil
}

func readMutatingPolicy(obj runtime.Object) (any, error) {
	p := obj.(*admissionv1.MutatingAdmissionPolicy)
	out, err := newPolicy(p.Name, p.Spec.ParamKind, p.Spec.FailurePolicy, p.Spec.MatchConstraints)
	if err != nil {
		return nil, err
	}
	out.reinvoke = p.Spec.ReinvocationPolicy == admissionv1.IfNeededReinvocationPolicy
	out.mutating = sync.OnceValue(func() *expression.Mutating { return expression.CompileMutating(&p.Spec) })
	return out, nil
}

func newPolicy(
	name string, params *admissionv1.ParamKind, failure *admissionv1.FailurePolicyType, m *admissionv1.MatchResources,
) (*policy, error) {
	p := &policy{name: name, failOpen: failure != nil && *failure == admissionv1.Ignore, matching: newMatching(m)}
	if m == nil {
		p.matching.invalid = errNoConstraints
	}
	if params != nil {
		gv, err := schema.ParseGroupVersion(params.APIVersion)
		if err != nil {
			return nil, fmt.Errorf("paramKind of policy %s: %w", name, err)
		}
		p.params = new(gv.WithKind(params.Kind))
	}
	return p, nil
}

// errNoConstraints has upstream's message (ASP generic/policy_matcher.go: DefinitionMatches).
var errNoConstraints = errors.New("policy contained no match constraints, a required field")

func readValidatingBinding(obj runtime.Object) (any, error) {
	b := obj.(*admissionv1.ValidatingAdmissionPolicyBinding)
	out := newBinding(b.Name, b.Spec.PolicyName, b.Spec.ParamRef, b.Spec.MatchResources)
	out.actions = b.Spec.ValidationActions
	return out, nil
}

func readMutatingBinding(obj runtime.Object) (any, error) {
	b := obj.(*admissionv1.MutatingAdmissionPolicyBinding)
	return newBinding(b.Name, b.Spec.PolicyName, b.Spec.ParamRef, b.Spec.MatchResources), nil
}

func newBinding(name, of string, ref *admissionv1.ParamRef, m *admissionv1.MatchResources) *binding {
	b := &binding{name: name, policy: of, ref: ref}
	if ref != nil && ref.Selector != nil {
		b.selector, b.invalid = metav1.LabelSelectorAsSelector(ref.Selector)
	}
	if m != nil {
		b.matching = newMatching(m)
	}
	return b
}

// newMatching reads a MatchResources, which may be nil.
func newMatching(m *admissionv1.MatchResources) *matching {
	if m == nil {
		return &matching{}
	}
	namespaces, ofNamespace := metav1.LabelSelectorAsSelector(m.NamespaceSelector)
	objects, ofObject := metav1.LabelSelectorAsSelector(m.ObjectSelector)
	out := &matching{
		namespaces: namespaces, objects: objects, excluded: m.ExcludeResourceRules, rules: m.ResourceRules,
		equivalent: m.MatchPolicy != nil && *m.MatchPolicy == admissionv1.Equivalent,
	}
	if err := cmp.Or(ofNamespace, ofObject); err != nil {
		out.invalid = apierrors.NewInternalError(err)
	}
	return out
}
