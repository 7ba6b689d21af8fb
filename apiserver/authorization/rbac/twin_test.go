package rbac_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac"
)

// twin reads all roles and bindings for each decision.
type twin struct {
	roles    map[rbac.Name][]rbacv1.PolicyRule
	bindings map[rbac.Name]*rbacv1.RoleBinding
}

func (w *twin) allowed(a *authorization.Attributes) bool {
	for n, b := range w.bindings {
		if n.Namespace != "" && n.Namespace != a.Namespace || !w.subject(a.User, b, n.Namespace) {
			continue
		}
		from := rbac.Name{Name: b.RoleRef.Name}
		if b.RoleRef.Kind == "Role" {
			from.Namespace = n.Namespace
		}
		for _, r := range w.roles[from] {
			if allows(a, r) {
				return true
			}
		}
	}
	return false
}

func (w *twin) subject(u authorization.User, b *rbacv1.RoleBinding, namespace string) bool {
	for _, s := range b.Subjects {
		switch s.Kind {
		case "User":
			if s.Name == u.Name {
				return true
			}
		case "Group":
			if slices.Contains(u.Groups, s.Name) {
				return true
			}
		case "ServiceAccount":
			ns := s.Namespace
			if ns == "" {
				ns = namespace
			}
			if ns != "" && u.Name == "system:serviceaccount:"+ns+":"+s.Name {
				return true
			}
		}
	}
	return false
}

func allows(a *authorization.Attributes, r rbacv1.PolicyRule) bool {
	in := func(list []string, v string) bool { return slices.Contains(list, v) || slices.Contains(list, "*") }
	if !in(r.Verbs, a.Verb) {
		return false
	}
	if !a.IsResource {
		for _, u := range r.NonResourceURLs {
			if u == a.Path || strings.HasSuffix(u, "*") && strings.HasPrefix(a.Path, strings.TrimRight(u, "*")) {
				return true
			}
		}
		return false
	}
	full := a.Resource
	if a.Subresource != "" {
		full += "/" + a.Subresource
	}
	return in(r.APIGroups, a.Group) &&
		(in(r.Resources, full) || a.Subresource != "" && slices.Contains(r.Resources, "*/"+a.Subresource)) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, a.Name))
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

func some(r *rand.Rand, words ...string) (out []string) {
	for range 1 + r.IntN(2) {
		out = append(out, pick(r, words...))
	}
	return out
}

func randomRule(r *rand.Rand) rbacv1.PolicyRule {
	verbs := some(r, "get", "list", "update", "*")
	if r.IntN(5) == 0 {
		return rbacv1.PolicyRule{Verbs: verbs, NonResourceURLs: some(r, "/metrics", "/api/*", "/debug*", "*")}
	}
	rule := rbacv1.PolicyRule{
		Verbs: verbs, APIGroups: some(r, "", "apps", "*"),
		Resources: some(r, "pods", "pods/status", "*/status", "secrets", "*"),
	}
	if r.IntN(3) == 0 {
		rule.ResourceNames = some(r, "a", "b")
	}
	return rule
}

func randomAttributes(r *rand.Rand) *authorization.Attributes {
	a := &authorization.Attributes{
		Verb: pick(r, "get", "list", "update", "delete"),
		User: authorization.User{Name: pick(r, "u", "v", "system:serviceaccount:n:s"), Groups: some(r, "g", "h", "i")},
	}
	if r.IntN(4) == 0 {
		a.Path = pick(r, "/metrics", "/api/v1", "/debug/pprof", "/x")
		return a
	}
	a.IsResource, a.Namespace, a.Group = true, pick(r, "", "n", "m"), pick(r, "", "apps", "batch")
	a.Resource, a.Subresource, a.Name = pick(r, "pods", "secrets", "jobs"), pick(
		r, "", "status", "log"), pick(r, "", "a", "c")
	return a
}

// TestPolicyEqualsItsTwin compares the policy with its twin after random changes. A few subjects have many bindings.
func TestPolicyEqualsItsTwin(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		p, w := rbac.New(), &twin{map[rbac.Name][]rbacv1.PolicyRule{}, map[rbac.Name]*rbacv1.RoleBinding{}}
		for step := range 2000 {
			n := rbac.Name{Namespace: pick(r, "", "n", "m"), Name: fmt.Sprint(r.IntN(40))}
			switch r.IntN(10) {
			case 0, 1:
				rules := []rbacv1.PolicyRule{randomRule(r), randomRule(r)}
				p.SetRole(n, rules)
				w.roles[n] = rules
			case 2:
				p.RemoveRole(n)
				delete(w.roles, n)
			case 3, 4, 5:
				b := &rbacv1.RoleBinding{RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: fmt.Sprint(r.IntN(40))}}
				if n.Namespace != "" {
					b.RoleRef.Kind = pick(r, "Role", "ClusterRole")
				}
				for range 1 + r.IntN(3) {
					kind := pick(r, "User", "Group", "ServiceAccount", "Nobody")
					b.Subjects = append(
						b.Subjects, rbacv1.Subject{Kind: kind, Name: pick(r, "u", "g", "s", "h"), Namespace: pick(r, "", "n")},
					)
				}
				p.SetBinding(n, b.RoleRef, b.Subjects)
				w.bindings[n] = b
			case 6:
				p.RemoveBinding(n)
				delete(w.bindings, n)
			}
			a := randomAttributes(r)
			if got, want := p.Decide(a).Allowed(), w.allowed(a); got != want {
				t.Fatalf("seed %d, step %d: %+v: allowed is %v", seed, step, a, got)
			}
		}
	}
}

// TestMissingPermissionsAreNotHeld: a held rule allows each permission that is not missing.
func TestMissingPermissionsAreNotHeld(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		held, wanted := []rbacv1.PolicyRule{randomRule(r), randomRule(r)}, []rbacv1.PolicyRule{randomRule(r)}
		missing := rbac.Missing(held, wanted)
		a := randomAttributes(r)
		asked := allows(a, wanted[0])
		has := allows(a, held[0]) || allows(a, held[1])
		if len(missing) == 0 && asked && !has {
			t.Fatalf("seed %d: %+v isn't missing from %+v, but %+v is denied", seed, wanted, held, a)
		}
		for _, m := range missing {
			if len(rbac.Missing(held, []rbacv1.PolicyRule{m})) == 0 {
				t.Fatalf("seed %d: %+v is missing from %+v, but covered alone", seed, m, held)
			}
		}
	}
}

// TestRulesBeyondTheLimitAreMissing: rules whose comparison needs more than the limit of steps count as missing.
func TestRulesBeyondTheLimitAreMissing(t *testing.T) {
	const steps = 1 << 20
	var words []string
	for i := range 2000 {
		words = append(words, fmt.Sprint(i))
	}
	all := []rbacv1.PolicyRule{{Verbs: words, APIGroups: words, Resources: words}}
	parts := []rbacv1.PolicyRule{
		{Verbs: words[1:], APIGroups: words, Resources: words}, {Verbs: words[:1], APIGroups: words, Resources: words},
	}
	many := make([]rbacv1.PolicyRule, 2000)
	for i := range many {
		many[i] = rbacv1.PolicyRule{Verbs: words[i : i+1], APIGroups: words[:1], Resources: words[:1]}
	}
	one := []rbacv1.PolicyRule{{Verbs: words[:1], APIGroups: words[:1], Resources: words[:1]}}
	for what, c := range map[string]struct {
		held, wanted []rbacv1.PolicyRule
		steps        int
		missing      int
	}{
		"itself":                  {all, all, 1 << 23, 0},
		"itself, in few steps":    {all, all, steps, 1},
		"eight thousand million":  {parts, all, steps, 1},
		"a few of many":           {many, many[:100], steps, 0},
		"many of many":            {many, many, steps, 1},
		"the last of many":        {many, many[1999:], steps, 0},
		"more than is listed":     {one, all, steps, 1 << 10},
		"nothing is held":         {nil, one, steps, 1},
		"nothing is wanted":       {many, nil, 0, 0},
		"something, in no steps":  {one, one, 0, 1},
		"something, in few steps": {one, one, 20, 0},
	} {
		if got := len(rbac.MissingWithin(c.held, c.wanted, c.steps)); got != c.missing {
			t.Errorf("%s: %d are missing, not %d", what, got, c.missing)
		}
	}
}
