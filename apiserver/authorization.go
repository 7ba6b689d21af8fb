package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/follower"
)

// Modes are the names that --authorization-mode accepts.
func Modes() []string { return []string{"AlwaysAllow", "AlwaysDeny", "RBAC"} }

// errMode is the error for an unknown authorization mode.
var errMode = errors.New("not an authorization mode")

// authorizers returns the chain of authorizers: first Masters, then those of the modes. granted is the one of RBAC, or
// nil.
func authorizers(
	modes []string, c *cache.Cache, log *slog.Logger,
) (chain authorization.Chain, granted *roles, err error) {
	chain = authorization.Chain{authorization.Masters{}}
	for _, m := range modes {
		switch m {
		case "AlwaysAllow":
			chain = append(chain, authorization.AlwaysAllow{})
		case "AlwaysDeny":
			chain = append(chain, authorization.AlwaysDeny{})
		case "RBAC":
			granted = newRoles(c, log)
			chain = append(chain, granted)
		default:
			return nil, nil, fmt.Errorf("%q is %w; there are %s", m, errMode, strings.Join(Modes(), ", "))
		}
	}
	return chain, granted, nil
}

// roles is the authorization mode RBAC. Its policy is as new as the roles and bindings in the cache. A call of
// Authorize first applies the cache's pending events to the policy, and waits only while another call does so. If the
// cache no longer has all of the events, the policy is built again. A role or binding that can't be decoded grants
// nothing. Nothing is granted before the cache is ready.
type roles struct {
	follower *follower.Follower
	log      *slog.Logger
	// mu guards the policy: decisions take the read lock, changes the write lock.
	mu     sync.RWMutex
	policy *rbac.Policy
}

// policyCollections are the collections of the policy. roles.set and roles.remove expect the roles first.
var policyCollections = []string{"clusterroles", "roles", "clusterrolebindings", "rolebindings"}

func newRoles(c *cache.Cache, log *slog.Logger) *roles {
	return &roles{follower: follower.New(c, policyCollections...), log: log, policy: rbac.New()}
}

// Authorize implements authorization.Authorizer.
func (z *roles) Authorize(a *authorization.Attributes) authorization.Decision {
	z.catchUp()
	z.mu.RLock()
	defer z.mu.RUnlock()
	return z.policy.Decide(a)
}

// Rules implements authorization.Authorizer.
func (z *roles) Rules(u authorization.User, namespace string) ([]rbacv1.PolicyRule, error) {
	z.catchUp()
	z.mu.RLock()
	defer z.mu.RUnlock()
	return z.policy.Rules(u, namespace)
}

// RoleRules returns the rules of the role to which a binding in the namespace refers; false if it does not exist.
func (z *roles) RoleRules(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, bool) {
	z.catchUp()
	z.mu.RLock()
	defer z.mu.RUnlock()
	return z.policy.RoleRules(ref, namespace)
}

// catchUp applies the cache's events up to its current revision to the policy.
func (z *roles) catchUp() {
	if err := z.follower.CatchUp(z.apply, z.rebuild); err != nil {
		z.log.Error("failed to read roles and bindings", "err", err)
	}
}

// apply applies events of one collection.
func (z *roles) apply(i int, events []*cache.Event) bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, e := range events {
		if e.Type == cache.Deleted {
			z.remove(z.policy, i, e.Object)
		} else {
			z.set(z.policy, i, e.Object)
		}
	}
	return true
}

// rebuild builds the policy from the collections.
func (z *roles) rebuild(collections []*cache.Snapshot) error {
	p := rbac.New()
	for i, c := range collections {
		for o := range c.Ascend("", "") {
			z.set(p, i, o)
		}
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.policy = p
	return nil
}

func (z *roles) remove(p *rbac.Policy, i int, o *storage.Object) {
	n := rbac.Name{Namespace: o.Meta.Namespace, Name: o.Meta.Name}
	if i < 2 {
		p.RemoveRole(n)
	} else {
		p.RemoveBinding(n)
	}
}

// set adds an object to the policy. ClusterRoles and Roles have the same fields, and so have their bindings.
func (z *roles) set(p *rbac.Policy, i int, o *storage.Object) {
	n := rbac.Name{Namespace: o.Meta.Namespace, Name: o.Meta.Name}
	if i < 2 {
		var r rbacv1.Role
		if z.read(o, &r) {
			p.SetRole(n, r.Rules)
			return
		}
	} else {
		var b rbacv1.RoleBinding
		if z.read(o, &b) {
			p.SetBinding(n, b.RoleRef, b.Subjects)
			return
		}
	}
	z.remove(p, i, o)
}

func (z *roles) read(o *storage.Object, into any) bool {
	err := o.Err
	if err == nil {
		err = json.Unmarshal(o.JSON, into)
	}
	if err != nil {
		z.log.Warn("a role or binding can't be decoded and grants nothing", "key", o.Key, "err", err)
	}
	return err == nil
}
