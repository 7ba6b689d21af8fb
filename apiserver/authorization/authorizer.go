package authorization

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Attributes are the input of an authorization decision (AS pkg/authorization/authorizer: AttributesRecord).
type Attributes struct {
	User User
	Verb string
	// IsResource reports whether the request is for a resource. For other requests, only Path is set.
	IsResource bool
	Path       string
	// Group, Version, Resource, Subresource, Namespace and Name are those of the request's path. Namespace is empty for
	// cluster-scoped resources and for all namespaces.
	Group, Version, Resource, Subresource, Namespace, Name string
}

// Verbs and subresources of long-running requests (K cmd/kube-apiserver/app/server.go and AS
// pkg/server/filters/longrunning.go: BasicLongRunningRequestCheck).
var (
	longVerbs        = []string{"watch", "proxy"}
	longSubresources = []string{"attach", "exec", "proxy", "log", "portforward"}
)

// LongRunning reports whether the client decides how long the request takes.
func (a *Attributes) LongRunning() bool {
	if !a.IsResource {
		return strings.HasPrefix(a.Path, "/debug/pprof/")
	}
	return slices.Contains(longVerbs, a.Verb) || slices.Contains(longSubresources, a.Subresource)
}

// May returns a function that reports whether a user may apply a verb to a cluster-scoped object, in any version.
func May(authorize func(*Attributes) Decision, user User) func(group, resource, verb, name string) bool {
	return func(group, resource, verb, name string) bool {
		return authorize(&Attributes{
			User: user, Verb: verb, IsResource: true, Group: group, Version: "*", Resource: resource, Name: name,
		}).Allowed()
	}
}

// Verdict is the result of an authorizer.
type Verdict uint8

// The verdicts. In a chain the first verdict that is not NoOpinion applies. A request without one is denied.
const (
	NoOpinion Verdict = iota
	Allow
	Deny
)

// String returns the name of the verdict.
func (v Verdict) String() string { return [...]string{"no opinion", "allow", "deny"}[v] }

// Decision is a verdict with its reason.
type Decision struct {
	Verdict Verdict
	// Why returns the reason. It is nil if there is none.
	Why func() string
}

// Allowed reports whether the request is allowed.
func (d Decision) Allowed() bool { return d.Verdict == Allow }

// Reason returns the reason as clients see it.
func (d Decision) Reason() string {
	if d.Why == nil {
		return ""
	}
	return d.Why()
}

// Authorizer authorizes requests. Its methods may be called from any goroutine.
type Authorizer interface {
	Authorize(a *Attributes) Decision
	// Rules returns the user's permissions in the namespace, as far as they can be listed. err means that some could
	// not be read.
	Rules(u User, namespace string) (rules []rbacv1.PolicyRule, err error)
}

// AlwaysAllow is the authorization mode of that name.
type AlwaysAllow struct{}

// Authorize implements Authorizer.
func (AlwaysAllow) Authorize(*Attributes) Decision { return Decision{Verdict: Allow} }

// Rules implements Authorizer.
func (AlwaysAllow) Rules(User, string) ([]rbacv1.PolicyRule, error) {
	all := []string{"*"}
	return []rbacv1.PolicyRule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}, nil
}

// AlwaysDeny is the authorization mode of that name.
type AlwaysDeny struct{}

// Authorize implements Authorizer.
func (AlwaysDeny) Authorize(*Attributes) Decision {
	return Decision{Why: func() string { return "Everything is forbidden." }}
}

// Rules implements Authorizer.
func (AlwaysDeny) Rules(User, string) ([]rbacv1.PolicyRule, error) { return nil, nil }

// Masters allows everything to system:masters. It is the first in every chain, so that an administrator can always
// repair a cluster (K pkg/kubeapiserver/authorizer/config.go: New).
type Masters struct{}

// Authorize implements Authorizer.
func (Masters) Authorize(a *Attributes) Decision {
	if slices.Contains(a.User.Groups, GroupMasters) {
		return Decision{Verdict: Allow}
	}
	return Decision{}
}

// Rules implements Authorizer. The permissions of system:masters are not listed.
func (Masters) Rules(User, string) ([]rbacv1.PolicyRule, error) { return nil, nil }

// Chain calls its authorizers in order (AS pkg/authorization/union).
type Chain []Authorizer

// Authorize implements Authorizer.
func (c Chain) Authorize(a *Attributes) Decision {
	var whys []func() string
	for _, z := range c {
		d := z.Authorize(a)
		if d.Verdict != NoOpinion {
			return d
		}
		if d.Why != nil {
			whys = append(whys, d.Why)
		}
	}
	if len(whys) == 0 {
		return Decision{}
	}
	return Decision{Why: func() string {
		var out []string
		for _, w := range whys {
			if r := w(); r != "" {
				out = append(out, r)
			}
		}
		return strings.Join(out, "\n")
	}}
}

// Rules implements Authorizer.
func (c Chain) Rules(u User, namespace string) (rules []rbacv1.PolicyRule, err error) {
	for _, z := range c {
		more, e := z.Rules(u, namespace)
		rules = append(rules, more...)
		if err == nil {
			err = e
		}
	}
	return rules, err
}
