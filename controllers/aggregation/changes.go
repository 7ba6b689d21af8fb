package aggregation

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Change is new rules for a role.
type Change struct {
	Name  string
	Rules []rbacv1.PolicyRule
}

// Changes returns the changes that are needed, given every cluster role (K pkg/controller/clusterroleaggregation:
// syncClusterRole).
func Changes(all []*rbacv1.ClusterRole) (out []Change) {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b *rbacv1.ClusterRole) int {
		return strings.Compare(a.Name, b.Name)
	})
	for i, r := range sorted {
		if r.AggregationRule == nil {
			continue
		}
		rules, err := gathered(r, sorted)
		if err != nil || apiequality.Semantic.DeepEqual(rules, r.Rules) {
			continue
		}
		out = append(out, Change{r.Name, rules})
		// Later roles aggregate the changed role; otherwise two roles that aggregate each other would swap their rules
		// forever.
		changed := *r
		changed.Rules = rules
		sorted[i] = &changed
	}
	return out
}

func gathered(r *rbacv1.ClusterRole, all []*rbacv1.ClusterRole) (rules []rbacv1.PolicyRule, err error) {
	for i := range r.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&r.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, err
		}
		for _, from := range all {
			if from.Name == r.Name || !selector.Matches(labels.Set(from.Labels)) {
				continue
			}
			for _, rule := range from.Rules {
				if !slices.ContainsFunc(rules, func(have rbacv1.PolicyRule) bool {
					return apiequality.Semantic.DeepEqual(have, rule)
				}) {
					rules = append(rules, rule)
				}
			}
		}
	}
	return rules, nil
}
