package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Modes are the names that --authorization-mode accepts.
func Modes() []string { return []string{"AlwaysAllow", "AlwaysDeny", "RBAC"} }

// errMode is the error for an unknown authorization mode.
var errMode = errors.New("not an authorization mode")

// authorizers returns the authorizers of the modes, after that for administrators. granted is that of RBAC, or nil.
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
	cache *cache.Cache
	log   *slog.Logger
	// shown is a revision whose events are all in the policy.
	shown atomic.Int64
	// mu guards the policy: decisions take the read lock, changes the write lock.
	mu     sync.RWMutex
	policy *rbac.Policy
	// follow guards the watchers. It is held while the policy is updated.
	follow   sync.Mutex
	watchers []*cache.Watcher
}

// policyCollections are the collections of the policy. roles.set and roles.remove expect the roles first.
var policyCollections = []string{"clusterroles", "roles", "clusterrolebindings", "rolebindings"}

func newRoles(c *cache.Cache, log *slog.Logger) *roles {
	return &roles{cache: c, log: log, policy: rbac.New()}
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
	now := z.cache.Revision()
	if z.shown.Load() >= now {
		return
	}
	z.follow.Lock()
	defer z.follow.Unlock()
	if z.shown.Load() >= now {
		return
	}
	shown := now
	for i := range policyCollections {
		rev, err := z.poll(i)
		if err != nil {
			for errors.Is(err, cache.ErrExpired) { // history may be dropped in the meantime
				shown, err = z.rebuild()
			}
			if err != nil {
				z.log.Error("failed to read roles and bindings", "err", err)
				return
			}
			break
		}
		shown = min(shown, rev)
	}
	z.shown.Store(shown)
}

// poll applies the pending events of one collection, and returns the revision after them.
func (z *roles) poll(i int) (rev int64, err error) {
	if z.watchers == nil {
		return 0, cache.ErrExpired
	}
	for {
		events, rev, err := z.watchers[i].Poll()
		if err != nil || len(events) == 0 {
			return rev, err
		}
		z.mu.Lock()
		for _, e := range events {
			if e.Type == cache.Deleted {
				z.remove(z.policy, i, e.Object)
			} else {
				z.set(z.policy, i, e.Object)
			}
		}
		z.mu.Unlock()
	}
}

// rebuild builds the policy from the snapshots of one revision, and watches from there.
func (z *roles) rebuild() (int64, error) {
	p, rev := rbac.New(), z.cache.Revision()
	watchers := make([]*cache.Watcher, len(policyCollections))
	for i, c := range policyCollections {
		snap, err := z.cache.Snapshot(c, rev)
		if err != nil {
			return 0, err
		}
		if watchers[i], err = z.cache.Watch(c, rev); err != nil {
			return 0, err
		}
		snap.Ascend("", "", func(o *storage.Object) bool {
			z.set(p, i, o)
			return true
		})
	}
	z.mu.Lock()
	z.policy, z.watchers = p, watchers
	z.mu.Unlock()
	return rev, nil
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
