package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// first returns the first binding that allows the request, or nil.
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
