package rbac

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Limits of Missing. It compares at most steps strings, which takes about half a second, and returns at most shown
// permissions.
const (
	steps = 1 << 26
	shown = 1 << 10
)

// Missing returns the permissions in wanted that are not in held. Each is a rule with one verb, one group, one resource
// and at most one name. The result is nil if held covers all (component-helpers auth/rbac/validation: Covers).
func Missing(held, wanted []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	return missing(wanted, comparison{held, steps})
}

func missing(wanted []rbacv1.PolicyRule, c comparison) (missing []rbacv1.PolicyRule) {
	for i := range wanted {
		r := &wanted[i]
		if c.covered(r) {
			continue
		}
		for single := range singles(r) {
			if c.covered(&single) {
				continue
			}
			if c.left < 0 {
				return append(missing, *r)
			}
			if missing = append(missing, single); len(missing) == shown {
				return missing
			}
		}
	}
	return missing
}

// comparison compares rules with the held ones. left is the number of strings that may still be compared. If it is
// negative, every rule counts as not covered.
type comparison struct {
	held []rbacv1.PolicyRule
	left int
}

func (c *comparison) covered(r *rbacv1.PolicyRule) bool {
	for i := range c.held {
		if c.left < 0 {
			return false
		}
		if c.covers(&c.held[i], r) {
			return c.left >= 0
		}
	}
	return false
}

// singles splits a rule into permissions.
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

// covers reports whether held allows everything that r allows.
func (c *comparison) covers(held, r *rbacv1.PolicyRule) bool {
	return c.all(held.Verbs, r.Verbs) && c.all(held.APIGroups, r.APIGroups) &&
		(len(held.ResourceNames) == 0 || len(r.ResourceNames) > 0 && c.subset(held.ResourceNames, r.ResourceNames)) &&
		c.resources(held.Resources, r.Resources) && c.urls(held.NonResourceURLs, r.NonResourceURLs)
}

func (c *comparison) has(list []string, value string) bool {
	i := slices.Index(list, value)
	if i < 0 {
		c.left -= len(list) + 1
		return false
	}
	c.left -= i + 1
	return true
}

func (c *comparison) all(held, values []string) bool {
	return c.has(held, rbacv1.VerbAll) || c.subset(held, values)
}

func (c *comparison) subset(held, values []string) bool {
	for _, v := range values {
		if c.left < 0 || !c.has(held, v) {
			return false
		}
	}
	return true
}

func (c *comparison) resources(held, resources []string) bool {
	if c.has(held, rbacv1.ResourceAll) {
		return true
	}
	for _, r := range resources {
		if c.left >= 0 && c.has(held, r) {
			continue
		}
		_, sub, ok := strings.Cut(r, "/")
		if c.left < 0 || !ok || !c.has(held, "*/"+sub) {
			return false
		}
	}
	return true
}

func (c *comparison) urls(held, urls []string) bool {
	for _, u := range urls {
		c.left -= len(held)
		if c.left < 0 || !slices.ContainsFunc(held, func(h string) bool { return urlCovers(h, u) }) {
			return false
		}
	}
	return true
}

// Describe lists permissions as upstream's error messages do: one per line, sorted, with the verbs of a resource joined
// (K pkg/registry/rbac/validation/policy_compact.go: CompactRules).
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
