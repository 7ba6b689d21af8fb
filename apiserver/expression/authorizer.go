package expression

import (
	"context"

	cached "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Authorizer is the variable authorizer of expressions.
type Authorizer = authorizer.UnconditionalAuthorizer

// AuthorizerOf returns the authorizer for the expressions of one plugin in one request. It caches its decisions (M-36),
// and is not safe for concurrent use. It ignores field and label selectors, as RBAC does.
func AuthorizerOf(z authorization.Authorizer) Authorizer {
	return cached.NewCachingAuthorizer(authorizer.AuthorizerFunc(
		func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			d := z.Authorize(attributesOf(a))
			return decisions[d.Verdict], d.Reason(), nil
		},
	))
}

var decisions = [...]authorizer.Decision{
	authorization.NoOpinion: authorizer.DecisionNoOpinion,
	authorization.Allow:     authorizer.DecisionAllow,
	authorization.Deny:      authorizer.DecisionDeny,
}

func attributesOf(a authorizer.Attributes) *authorization.Attributes {
	out := &authorization.Attributes{
		Verb: a.GetVerb(), IsResource: a.IsResourceRequest(), Path: a.GetPath(), Group: a.GetAPIGroup(),
		Version: a.GetAPIVersion(), Resource: a.GetResource(), Subresource: a.GetSubresource(),
		Namespace: a.GetNamespace(), Name: a.GetName(),
	}
	if u := a.GetUser(); u != nil {
		out.User = authorization.User{
			Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra(),
		}
	}
	return out
}
