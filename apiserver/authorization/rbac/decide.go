package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Decide returns a decision to allow, or no opinion (K plugin/pkg/auth/authorizer/rbac/rbac.go: Authorize).
func (p *Policy) Decide(a *authorization.Attributes) authorization.Decision {
	w := want(a)
	var by *binding
	p.each(&a.User, a.Namespace, func(bindings []*binding) bool {
		by = first(bindings, a, &w)
		return by == nil
	})
	if by != nil {
		u := a.User
		return authorization.Decision{Verdict: authorization.Allow, Why: func() string {
			return "RBAC: allowed by " + by.describe(&u)
		}}
	}
	if p.dangling == 0 {
		return authorization.Decision{}
	}
	err := p.missing(&a.User, a.Namespace)
	if err == nil {
		return authorization.Decision{}
	}
	return authorization.Decision{Why: func() string { return "RBAC: " + err.Error() }}
}

// maxRepeated is the maximum number of rules that Rules returns for repeated bindings of roles. Otherwise a thousand
// bindings of one large role would result in a huge list.
const maxRepeated = 1 << 12

// Rules returns the user's rules in the namespace. A role's rules are repeated for each of its bindings, up to
// maxRepeated. The error names bound roles that do not exist.
func (p *Policy) Rules(u authorization.User, namespace string) (rules []rbacv1.PolicyRule, err error) {
	seen, listed, left := map[*binding]bool{}, map[*role]bool{}, maxRepeated
	p.each(&u, namespace, func(bindings []*binding) bool {
		for _, b := range bindings {
			if seen[b] {
				continue
			}
			seen[b] = true
			if listed[b.role] {
				if len(b.role.rules) > left {
					continue
				}
				left -= len(b.role.rules)
			}
			listed[b.role] = true
			rules = append(rules, b.role.rules...)
		}
		return true
	})
	if p.dangling > 0 {
		err = p.missing(&u, namespace)
	}
	return rules, err
}

// missing returns an error with the names of the roles that are bound to the user but do not exist, or nil.
func (p *Policy) missing(u *authorization.User, namespace string) error {
	var texts []string
	p.each(u, namespace, func(bindings []*binding) bool {
		for _, b := range bindings {
			if !b.role.exists {
				texts = append(texts, b.missing())
			}
		}
		return true
	})
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	if texts = slices.Compact(texts); len(texts) == 1 {
		return errors.New(texts[0])
	}
	return errors.New("[" + strings.Join(texts, ", ") + "]")
}

func (b *binding) missing() string {
	switch b.ref.Kind {
	case "Role", "ClusterRole":
		return fmt.Sprintf("%s.%s %q not found", strings.ToLower(b.ref.Kind), rbacv1.GroupName, b.ref.Name)
	}
	return fmt.Sprintf("unsupported role reference kind: %q", b.ref.Kind)
}

// describe describes a binding and its first subject that matches the user (K pkg/registry/rbac/validation/rule.go:
// describeSubject).
func (b *binding) describe(u *authorization.User) string {
	kind, name := "ClusterRoleBinding", b.name.Name
	if b.name.Namespace != "" {
		kind, name = "RoleBinding", b.name.Name+"/"+b.name.Namespace
	}
	subject := ""
	for i := range b.subjects {
		s := &b.subjects[i]
		k, ok := b.key(s)
		if !ok || (k.group && !slices.Contains(u.Groups, k.name)) || (!k.group && k.name != u.Name) {
			continue
		}
		subject = s.Name
		if s.Kind == rbacv1.ServiceAccountKind {
			namespace := cmp.Or(s.Namespace, b.name.Namespace)
			subject += "/" + namespace
		}
		subject = fmt.Sprintf("%s %q", s.Kind, subject)
		break
	}
	return fmt.Sprintf("%s %q of %s %q to %s", kind, name, b.ref.Kind, b.ref.Name, subject)
}
