package flowcontrol

import (
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// matches reports whether a schema matches a request: one of its rules must match the user and the request (AS
// pkg/util/flowcontrol/rule.go).
func matches(s *flowcontrolv1.FlowSchemaSpec, a *authorization.Attributes) bool {
	return slices.ContainsFunc(s.Rules, func(r flowcontrolv1.PolicyRulesWithSubjects) bool {
		if !slices.ContainsFunc(r.Subjects, func(u flowcontrolv1.Subject) bool { return isSubject(u, &a.User) }) {
			return false
		}
		if a.IsResource {
			return slices.ContainsFunc(r.ResourceRules, func(r flowcontrolv1.ResourcePolicyRule) bool {
				return matchesResource(&r, a)
			})
		}
		return slices.ContainsFunc(r.NonResourceRules, func(r flowcontrolv1.NonResourcePolicyRule) bool {
			return names(r.Verbs, a.Verb) && matchesPath(r.NonResourceURLs, a.Path)
		})
	})
}

// isSubject reports whether a subject is the user, one of the user's groups, or the user's service account.
func isSubject(s flowcontrolv1.Subject, u *authorization.User) bool {
	switch {
	case s.Kind == flowcontrolv1.SubjectKindUser && s.User != nil:
		return s.User.Name == flowcontrolv1.NameAll || s.User.Name == u.Name
	case s.Kind == flowcontrolv1.SubjectKindGroup && s.Group != nil:
		return s.Group.Name == flowcontrolv1.NameAll || slices.Contains(u.Groups, s.Group.Name)
	case s.Kind == flowcontrolv1.SubjectKindServiceAccount && s.ServiceAccount != nil:
		account, ok := strings.CutPrefix(u.Name, "system:serviceaccount:"+s.ServiceAccount.Namespace+":")
		return ok && (s.ServiceAccount.Name == flowcontrolv1.NameAll || s.ServiceAccount.Name == account)
	}
	return false
}

func matchesResource(r *flowcontrolv1.ResourcePolicyRule, a *authorization.Attributes) bool {
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	if !names(r.Verbs, a.Verb) || !names(r.Resources, resource) || !names(r.APIGroups, a.Group) {
		return false
	}
	if a.Namespace == "" {
		return r.ClusterScope
	}
	return names(r.Namespaces, a.Namespace)
}

// names reports whether a list has the value or the wildcard.
func names(list []string, value string) bool {
	return len(list) == 1 && list[0] == "*" || slices.Contains(list, value)
}

// matchesPath reports whether a list has the path. A pattern that ends with a slash, with or without an asterisk after
// it, matches all paths below it.
func matchesPath(list []string, path string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		prefix := strings.TrimSuffix(p, "*")
		if !strings.HasSuffix(prefix, "/") {
			prefix += "/"
		}
		return p == "*" || p == path || strings.HasPrefix(path, prefix)
	})
}
