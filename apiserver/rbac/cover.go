package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Bounds of a comparison: rules that are broken down into more single rights than steps are too
// large to be compared, and no more than shown missing rights are listed.
const (
	steps = 1 << 20
	shown = 1 << 10
)

// Missing returns the rights in wanted that are not in held, each as a rule with one verb, one group,
// one resource and at most one name; nil if held covers them all
// (component-helpers auth/rbac/validation: Covers).
func Missing(held, wanted []rbacv1.PolicyRule) (missing []rbacv1.PolicyRule) {
	left := steps
	for i := range wanted {
		r := &wanted[i]
		if slices.ContainsFunc(held, func(h rbacv1.PolicyRule) bool { return covers(&h, r) }) {
			continue
		}
		if size(r) > left {
			return append(missing, *r)
		}
		left -= size(r)
		for single := range singles(r) {
			if slices.ContainsFunc(held, func(h rbacv1.PolicyRule) bool { return covers(&h, &single) }) {
				continue
			}
			if missing = append(missing, single); len(missing) == shown {
				return missing
			}
		}
	}
	return missing
}

// size is how many single rights a rule is, at most steps+1.
func size(r *rbacv1.PolicyRule) int {
	n := 1
	for _, k := range []int{len(r.APIGroups), len(r.Resources), max(1, len(r.ResourceNames)), len(r.Verbs)} {
		if n *= k; n > steps {
			return steps + 1
		}
	}
	return min(n+len(r.NonResourceURLs)*len(r.Verbs), steps+1)
}

// singles breaks a rule down.
func singles(r *rbacv1.PolicyRule) func(yield func(rbacv1.PolicyRule) bool) {
	return func(yield func(rbacv1.PolicyRule) bool) {
		for _, g := range r.APIGroups {
			for _, res := range r.Resources {
				for _, v := range r.Verbs {
					one := rbacv1.PolicyRule{APIGroups: []string{g}, Resources: []string{res}, Verbs: []string{v}}
					if len(r.ResourceNames) == 0 && !yield(one) {
						return
					}
					for _, name := range r.ResourceNames {
						if one.ResourceNames = []string{name}; !yield(one) {
							return
						}
					}
				}
			}
		}
		for _, url := range r.NonResourceURLs {
			for _, v := range r.Verbs {
				if !yield(rbacv1.PolicyRule{NonResourceURLs: []string{url}, Verbs: []string{v}}) {
					return
				}
			}
		}
	}
}

// covers reports whether one rule allows all that another does.
func covers(held, r *rbacv1.PolicyRule) bool {
	return all(held.Verbs, r.Verbs) && all(held.APIGroups, r.APIGroups) &&
		(len(held.ResourceNames) == 0 || len(r.ResourceNames) > 0 && subset(held.ResourceNames, r.ResourceNames)) &&
		resourcesCover(held.Resources, r.Resources) && urlsCover(held.NonResourceURLs, r.NonResourceURLs)
}

func all(held, values []string) bool {
	return slices.Contains(held, rbacv1.VerbAll) || subset(held, values)
}

func subset(held, values []string) bool {
	for _, v := range values {
		if !slices.Contains(held, v) {
			return false
		}
	}
	return true
}

func resourcesCover(held, resources []string) bool {
	if slices.Contains(held, rbacv1.ResourceAll) {
		return true
	}
	for _, r := range resources {
		if slices.Contains(held, r) {
			continue
		}
		_, sub, ok := strings.Cut(r, "/")
		if !ok || !slices.Contains(held, "*/"+sub) {
			return false
		}
	}
	return true
}

func urlsCover(held, urls []string) bool {
	for _, u := range urls {
		if !slices.ContainsFunc(held, func(h string) bool { return urlCovers(h, u) }) {
			return false
		}
	}
	return true
}

// Describe writes rights as upstream's refusals list them, one a line, sorted; the verbs of one
// resource are put together (K pkg/registry/rbac/validation/policy_compact.go: CompactRules).
func Describe(rules []rbacv1.PolicyRule) string {
	type resource struct{ group, name string }
	at := map[resource]int{}
	var compact []rbacv1.PolicyRule
	for _, r := range rules {
		if len(r.APIGroups) == 1 && len(r.Resources) == 1 && len(r.ResourceNames) == 0 && len(r.NonResourceURLs) == 0 {
			k := resource{r.APIGroups[0], r.Resources[0]}
			if i, ok := at[k]; ok {
				compact[i].Verbs = append(slices.Clip(compact[i].Verbs), r.Verbs...)
				continue
			}
			at[k] = len(compact)
		}
		compact = append(compact, r)
	}
	lines := make([]string, len(compact))
	for i := range compact {
		lines[i] = line(&compact[i])
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

func line(r *rbacv1.PolicyRule) string {
	var parts []string
	for _, p := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs},
		{"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs},
	} {
		if len(p.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", p.name, p.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
