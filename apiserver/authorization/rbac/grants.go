package rbac

import (
	"slices"
	"strings"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// grants are the bindings of one subject in one scope, sorted by name.
type grants struct {
	bindings []*binding
	// index is made when many bindings are searched for the first time. It is dropped when one of them or of their
	// roles changes.
	index atomic.Pointer[index]
}

// many is the number of bindings above which an index is worth its cost.
const many = 16

// index finds the bindings whose roles have rules for a resource. Of those with the same role it has only the first.
type index struct {
	byResource map[place][]*binding
	// urls are the bindings of roles with rules for paths.
	urls []*binding
}

// place is a resource of a rule, with the name of an object if the rule is limited to names.
type place struct{ resource, name string }

func (g *grants) add(b *binding) {
	at, _ := slices.BinarySearchFunc(g.bindings, b, compare)
	g.bindings = slices.Insert(g.bindings, at, b)
	g.index.Store(nil)
}

// remove removes a binding. It reports whether no bindings are left.
func (g *grants) remove(b *binding) bool {
	if at := slices.Index(g.bindings, b); at >= 0 {
		g.bindings = slices.Delete(g.bindings, at, at+1)
	}
	g.index.Store(nil)
	return len(g.bindings) == 0
}

// find returns the first binding that allows the request, or nil.
func (g *grants) find(a *authorization.Attributes, want *wanted) *binding {
	if len(g.bindings) <= many {
		return first(g.bindings, a, want)
	}
	x := g.index.Load()
	if x == nil {
		x = newIndex(g.bindings)
		g.index.Store(x)
	}
	if !a.IsResource {
		return first(x.urls, a, want)
	}
	for _, resource := range [...]string{want.resource, want.anySub, rbacv1.ResourceAll} {
		if resource == "" {
			continue
		}
		if b := first(x.byResource[place{resource, ""}], a, want); b != nil {
			return b
		}
		if a.Name == "" {
			continue
		}
		if b := first(x.byResource[place{resource, a.Name}], a, want); b != nil {
			return b
		}
	}
	return nil
}

func first(bindings []*binding, a *authorization.Attributes, want *wanted) *binding {
	for _, b := range bindings {
		for i := range b.role.rules {
			if want.allowedBy(a, &b.role.rules[i]) {
				return b
			}
		}
	}
	return nil
}

func newIndex(bindings []*binding) *index {
	x := &index{byResource: map[place][]*binding{}}
	seen := map[*role]bool{}
	for _, b := range bindings {
		if seen[b.role] {
			continue
		}
		seen[b.role] = true
		urls := false
		for i := range b.role.rules {
			x.add(b, &b.role.rules[i])
			urls = urls || len(b.role.rules[i].NonResourceURLs) > 0
		}
		if urls {
			x.urls = append(x.urls, b)
		}
	}
	return x
}

func (x *index) add(b *binding, r *rbacv1.PolicyRule) {
	names := r.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, resource := range r.Resources {
		for _, name := range names {
			k := place{resource, name}
			if l := x.byResource[k]; len(l) == 0 || l[len(l)-1] != b {
				x.byResource[k] = append(l, b)
			}
		}
	}
}

// wanted is the resource of a request as rules name it.
type wanted struct{ resource, anySub string }

func want(a *authorization.Attributes) wanted {
	if a.Subresource == "" {
		return wanted{resource: a.Resource}
	}
	return wanted{resource: a.Resource + "/" + a.Subresource, anySub: "*/" + a.Subresource}
}

// allowedBy reports whether a rule allows the request
// (K plugin/pkg/auth/authorizer/rbac/rbac.go: RuleAllows).
func (w *wanted) allowedBy(a *authorization.Attributes, r *rbacv1.PolicyRule) bool {
	if !has(r.Verbs, a.Verb) {
		return false
	}
	if !a.IsResource {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool { return urlCovers(url, a.Path) })
	}
	if !has(r.APIGroups, a.Group) || len(r.ResourceNames) > 0 && !slices.Contains(r.ResourceNames, a.Name) {
		return false
	}
	return slices.ContainsFunc(r.Resources, func(resource string) bool {
		return resource == rbacv1.ResourceAll || resource == w.resource || w.anySub != "" && resource == w.anySub
	})
}

// has reports whether a list of a rule has the value or a wildcard.
func has(list []string, value string) bool {
	return slices.Contains(list, value) || slices.Contains(list, rbacv1.VerbAll)
}

// urlCovers reports whether a rule's path is the path, or a prefix of it followed by a star.
func urlCovers(rule, path string) bool {
	return rule == path || strings.HasSuffix(rule, "*") && strings.HasPrefix(path, strings.TrimRight(rule, "*"))
}
