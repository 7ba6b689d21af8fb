package dynamic

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// invocation is a policy that matches a request, with one of its bindings and one of the binding's params (M-15).
type invocation struct {
	policy *policy
	// binding is nil if err is about the policy.
	binding *binding
	// in is the resource that has the version in which the policy gets the objects (M-18).
	in *resources.Resource
	// param is nil if there is none: the policy gets null.
	param runtime.Object
	// err is the reason why the policy or the binding can't be evaluated, or nil (M-40).
	err error
}

// failure returns the message for an invocation with an error, without "denied request: ".
func (i *invocation) failure() string {
	if i.binding == nil {
		return "failed to configure policy: " + i.err.Error()
	}
	return "failed to configure binding: " + i.err.Error()
}

// invocations returns the matching policies in the order in which they are evaluated: by the names of policies,
// bindings and params.
func (q *request) invocations(ctx context.Context, candidates []candidate) (out []invocation) {
	for i := range candidates {
		c := &candidates[i]
		in, ok, err := c.matches(ctx, q)
		if err == nil && !ok {
			continue
		}
		var params *resources.Resource
		if err == nil {
			params, err = q.paramResource(c.policy)
		}
		if err != nil {
			out = append(out, invocation{policy: c.policy, err: err})
			continue
		}
		for j := range c.bindings {
			out = q.invoke(ctx, out, invocation{policy: c.policy, in: in}, &c.bindings[j], params)
		}
	}
	return out
}

// invoke adds the invocations of a policy for a binding.
func (q *request) invoke(
	ctx context.Context, out []invocation, one invocation, b *boundCandidate, params *resources.Resource,
) []invocation {
	one.binding = b.binding
	if !b.all {
		_, ok, err := b.matches(ctx, q)
		if one.err = err; err != nil {
			return append(out, one)
		}
		if !ok {
			return out
		}
	}
	all, err := q.paramsOf(ctx, params, b.binding)
	if one.err = err; err != nil {
		return append(out, one)
	}
	for _, one.param = range all {
		out = append(out, one)
	}
	return out
}

// bindings returns the values of variables for an invocation. An error ends the request.
func (q *request) bindings(ctx context.Context, i *invocation) (expression.Bindings, error) {
	b := expression.Bindings{Params: i.param, Authorizer: q.lazyAuthorizer()}
	var err error
	b.Namespace, err = q.namespaceObject(ctx)
	return b, err
}
