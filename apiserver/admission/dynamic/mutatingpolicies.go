package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// mutatingPolicies is the plugin MutatingAdmissionPolicy.
type mutatingPolicies struct{ *Admission }

// evaluated identifies an invocation in both rounds.
type evaluated struct {
	policy          *policy
	binding         *binding
	namespace, name string // of the param
}

// Admit implements admission.Mutator. The matching policies are determined before the first one changes the object, but
// match conditions see the changes (ASP generic/policy_dispatcher.go: Dispatch).
func (p mutatingPolicies) Admit(ctx context.Context, a *admission.Attributes) error {
	set, err := p.set(a, mutatingPolicy)
	if err != nil || set == nil {
		return err
	}
	candidates := set.plan(formOf(a)).mutatingPolicies
	if len(candidates) == 0 {
		return nil
	}
	type rounds = webhook.Rounds[evaluated]
	m := &mutator{request: p.request(ctx, a), rounds: a.Kept(p, func() any { return &rounds{} }).(*rounds)}
	all := m.prepared(m.invocations(ctx, candidates))
	m.rounds.Begin(a.Round, m.state)
	defer m.rounds.End(m.state)
	for i := range all {
		if err := m.evaluate(ctx, &all[i]); err != nil {
			return err
		}
	}
	if m.dirty { // even if nothing has changed (M-66)
		m.rounds.Changed()
	}
	if m.rounds.Again {
		a.Again()
	}
	if err := m.view.flush(); err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to convert object: %w", err))
	}
	return m.denial()
}

// mutator is a request whose object is changed by policies.
type mutator struct {
	*request
	rounds *webhook.Rounds[evaluated]
	// dirty reports whether a mutation was evaluated without an error.
	dirty bool
	// denials are the messages of all errors. reason is the reason of the first one.
	denials []string
	reason  metav1.StatusReason
}

// prepared converts the objects for all invocations, denies the request for those that can't be evaluated, and returns
// the others.
func (m *mutator) prepared(all []invocation) (out []invocation) {
	for _, i := range all {
		if i.err == nil {
			if _, i.err = m.version(i.in); i.err != nil {
				i.binding = nil // as upstream
			}
		}
		if i.err == nil {
			out = append(out, i)
			continue
		}
		m.deny(&i, i.failure(), metav1.StatusReasonForbidden)
	}
	return out
}

// deny denies the request if the policy does not ignore errors (M-63).
func (m *mutator) deny(i *invocation, message string, reason metav1.StatusReason) {
	if i.policy.failOpen {
		return
	}
	if len(m.denials) == 0 {
		m.reason = reason
	}
	if i.binding == nil {
		m.denials = append(m.denials, fmt.Sprintf("policy %q denied request: %s", i.policy.name, message))
		return
	}
	m.denials = append(m.denials, fmt.Sprintf("policy '%s' with binding '%s' denied request: %s",
		i.policy.name, i.binding.name, message))
}

// denial returns the error for the request, or nil if no policy denies it. The code is always 403.
func (m *mutator) denial() error {
	if len(m.denials) == 0 {
		return nil
	}
	err := m.forbidden(nil)
	err.ErrStatus.Message, err.ErrStatus.Reason = m.denials[0], m.reason
	for _, message := range m.denials {
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	}
	return err
}

// evaluate evaluates one policy for one binding and param. An error that it returns ends the request, even if the
// failure policy is Ignore.
func (m *mutator) evaluate(ctx context.Context, i *invocation) error {
	b, err := m.bindings(ctx, i)
	if err != nil {
		return err
	}
	v, err := m.version(i.in)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	match := i.policy.mutating().Match(ctx, v, b)
	m.d.Metrics.matched(i.policy.name, kindPolicy, typeOfPolicy, m.a.Operation, match)
	if match.Err != nil {
		m.deny(i, match.Err.Error(), metav1.StatusReasonInvalid)
	}
	key := evaluated{policy: i.policy, binding: i.binding}
	key.namespace, key.name = nameOf(i.param)
	if !match.Matches || m.rounds.Skips(m.a.Round, key) {
		return nil
	}
	before, err := m.view.Object(i.in)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	after, err := m.mutate(ctx, i, b, before)
	if err != nil {
		return err
	}
	if after != before && !apiequality.Semantic.DeepEqual(before, after) {
		m.rounds.Changed()
	}
	if i.policy.reinvoke {
		m.rounds.Called(key)
	}
	return nil
}

// mutate evaluates the mutations of a policy one after the other, each on the result of the previous one, and returns
// the last result.
func (m *mutator) mutate(
	ctx context.Context, i *invocation, b expression.Bindings, object runtime.Object,
) (runtime.Object, error) {
	for index := range i.policy.mutating().Len() {
		start := time.Now()
		next, err := m.mutateOnce(ctx, i, index, b, object)
		kind := "no_error"
		if err != nil {
			kind = errorType(err.Error())
		}
		m.d.checks.mutating.observe(time.Since(start), i.policy.name, i.binding.name, kind)
		var status *apierrors.StatusError
		switch {
		case errors.As(err, &status):
			return nil, status
		case err != nil:
			m.deny(i, err.Error(), metav1.StatusReasonInvalid)
			continue
		}
		m.dirty = true
		if next != object {
			m.change(i.in, next)
			object = next
		}
	}
	return object, nil
}

// mutateOnce returns the result of one mutation, with defaults. Without a change it returns the same object.
func (m *mutator) mutateOnce(
	ctx context.Context, i *invocation, index int, b expression.Bindings, object runtime.Object,
) (runtime.Object, error) {
	v, err := m.version(i.in)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	converter, err := m.d.Converter(i.in)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	next, err := i.policy.mutating().Patch(ctx, index, v, b, resources.Scheme(), converter)
	if err != nil || next == object {
		return next, err
	}
	// A merged object is unstructured. A JSON patch may have changed the kind.
	if _, merged := next.(*unstructured.Unstructured); !merged && reflect.TypeOf(next) != reflect.TypeOf(object) {
		return nil, apierrors.NewInternalError(
			fmt.Errorf("failed to convert object: converting (%T) to (%T): unknown conversion", next, object),
		)
	}
	return m.completed(i.in, next)
}

// completed returns the result of a mutation as an object of its kind, with defaults. An unstructured result is
// encoded, because it shares memory with the object and may have values of CEL types.
func (m *mutator) completed(in *resources.Resource, obj runtime.Object) (runtime.Object, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		data, err := json.Marshal(u.Object)
		if err != nil {
			return nil, err
		}
		return m.view.decode(in, data)
	}
	return obj, m.view.complete(in, obj)
}

// state returns a copy of the object in its current state.
func (m *mutator) state() runtime.Object {
	if err := m.view.flush(); err != nil {
		return nil // the same error ends the request
	}
	return m.a.Object.DeepCopyObject()
}
