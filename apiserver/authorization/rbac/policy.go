package rbac

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Name is the name of a role or binding. Namespace is empty for ClusterRoles and ClusterRoleBindings.
type Name struct{ Namespace, Name string }

// Policy has the roles, and the bindings by subject.
//
// Invariants: a role is in roles if it exists or is bound. Each binding is in the grants of each of its subjects, once.
// dangling counts the bindings whose role does not exist.
type Policy struct {
	roles    map[roleKey]*role
	bindings map[Name]*binding
	grants   map[subjectKey][]*binding // sorted by name
	dangling int
}

// roleKey identifies the role of a binding. A Role has the namespace of its binding.
type roleKey struct {
	kind      string
	namespace string
	name      string
}

type role struct {
	exists bool
	rules  []rbacv1.PolicyRule
	bound  int // the number of its bindings
}

type binding struct {
	name     Name
	ref      rbacv1.RoleRef
	subjects []rbacv1.Subject
	role     *role
	// keys are the subjects without duplicates.
	keys []subjectKey
}

// subjectKey is a user or group in a scope. The scope is a namespace, or empty for the cluster. A service account is a
// user.
type subjectKey struct {
	group       bool
	scope, name string
}

// New returns an empty policy.
func New() *Policy {
	return &Policy{roles: map[roleKey]*role{}, bindings: map[Name]*binding{}, grants: map[subjectKey][]*binding{}}
}

// SetRole adds or replaces a Role, or a ClusterRole if n has no namespace. The caller must not change the rules later.
func (p *Policy) SetRole(n Name, rules []rbacv1.PolicyRule) {
	r := p.role(keyOf(n))
	if !r.exists {
		p.dangling -= r.bound
	}
	r.exists, r.rules = true, rules
}

// RemoveRole removes a role. Its bindings stay, but grant nothing.
func (p *Policy) RemoveRole(n Name) {
	r := p.roles[keyOf(n)]
	if r == nil || !r.exists {
		return
	}
	r.exists, r.rules = false, nil
	p.dangling += r.bound
	p.forget(keyOf(n), r)
}

func keyOf(n Name) roleKey {
	if n.Namespace == "" {
		return roleKey{kind: "ClusterRole", name: n.Name}
	}
	return roleKey{"Role", n.Namespace, n.Name}
}

func refKey(ref rbacv1.RoleRef, namespace string) roleKey {
	if ref.Kind == "Role" {
		return roleKey{"Role", namespace, ref.Name}
	}
	return roleKey{kind: ref.Kind, name: ref.Name}
}

func (p *Policy) role(k roleKey) *role {
	r := p.roles[k]
	if r == nil {
		r = &role{}
		p.roles[k] = r
	}
	return r
}

// forget removes a role that neither exists nor is bound.
func (p *Policy) forget(k roleKey, r *role) {
	if !r.exists && r.bound == 0 {
		delete(p.roles, k)
	}
}

// SetBinding adds or replaces a RoleBinding, or a ClusterRoleBinding if n has no namespace. The caller must not change
// the subjects later.
func (p *Policy) SetBinding(n Name, ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
	p.RemoveBinding(n)
	b := &binding{name: n, ref: ref, subjects: subjects, role: p.role(refKey(ref, n.Namespace))}
	b.keys = b.subjectKeys()
	p.bindings[n] = b
	b.role.bound++
	if !b.role.exists {
		p.dangling++
	}
	for _, k := range b.keys {
		at, _ := slices.BinarySearchFunc(p.grants[k], b, compare)
		p.grants[k] = slices.Insert(p.grants[k], at, b)
	}
}

// RemoveBinding removes a binding.
func (p *Policy) RemoveBinding(n Name) {
	b := p.bindings[n]
	if b == nil {
		return
	}
	delete(p.bindings, n)
	b.role.bound--
	if !b.role.exists {
		p.dangling--
	}
	p.forget(refKey(b.ref, n.Namespace), b.role)
	for _, k := range b.keys {
		at := slices.Index(p.grants[k], b)
		if p.grants[k] = slices.Delete(p.grants[k], at, at+1); len(p.grants[k]) == 0 {
			delete(p.grants, k)
		}
	}
}

// subjectKeys returns the binding's subjects without duplicates. It takes time linear in their number, because a
// binding may have many subjects, and all requests wait for it.
func (b *binding) subjectKeys() []subjectKey {
	out, seen := make([]subjectKey, 0, len(b.subjects)), make(map[subjectKey]struct{}, len(b.subjects))
	for i := range b.subjects {
		k, ok := b.key(&b.subjects[i])
		if _, again := seen[k]; ok && !again {
			seen[k] = struct{}{}
			out = append(out, k)
		}
	}
	return out
}

// key returns the key of a subject, or false if it matches no user: if its kind is unknown, or if it is a service
// account without a namespace (K pkg/registry/rbac/validation/rule.go: appliesToUser).
func (b *binding) key(s *rbacv1.Subject) (subjectKey, bool) {
	switch s.Kind {
	case rbacv1.UserKind:
		return subjectKey{false, b.name.Namespace, s.Name}, true
	case rbacv1.GroupKind:
		return subjectKey{true, b.name.Namespace, s.Name}, true
	case rbacv1.ServiceAccountKind:
		namespace := cmp.Or(s.Namespace, b.name.Namespace)
		return subjectKey{false, b.name.Namespace, serviceaccount.MakeUsername(namespace, s.Name)}, namespace != ""
	}
	return subjectKey{}, false
}

// RoleRules returns the rules of the role to which a binding in the namespace refers, and reports whether it exists.
func (p *Policy) RoleRules(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, bool) {
	r := p.roles[refKey(ref, namespace)]
	if r == nil || !r.exists {
		return nil, false
	}
	return r.rules, true
}

// each calls yield for the grants of the user in the namespace, in the order of the package's guarantee 4, until yield
// returns false. A binding is in the grants of each of its subjects, so yield may get it more than once.
func (p *Policy) each(u *authorization.User, namespace string, yield func([]*binding) bool) {
	for _, scope := range scopes(namespace) {
		if g := p.grants[subjectKey{false, scope, u.Name}]; g != nil && !yield(g) {
			return
		}
		for _, group := range u.Groups {
			if g := p.grants[subjectKey{true, scope, group}]; g != nil && !yield(g) {
				return
			}
		}
	}
}

func scopes(namespace string) []string {
	if namespace == "" {
		return []string{""}
	}
	return []string{"", namespace}
}

// compare orders the bindings of one subject by name.
func compare(a, b *binding) int { return strings.Compare(a.name.Name, b.name.Name) }
