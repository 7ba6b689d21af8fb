package controllers

import (
	"context"
	"slices"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// aggregatedRoles sets the rules of each cluster role with an aggregation rule to those of the cluster roles that it
// selects (K pkg/controller/clusterroleaggregation: syncClusterRole). One pass handles all roles.
func aggregatedRoles() workload.Controller {
	return workload.Controller{
		Name: "clusterrole-aggregation", For: workload.ClusterRoles, Quiet: true, Task: "aggregate cluster roles",
		Most: time.Minute,
		Wake: func(workload.Reader, workload.Change) []workload.Key { return []workload.Key{{}} },
		Decide: func(v workload.View, _ time.Time) workload.Plan {
			all := workload.All[*rbacv1.ClusterRole](v, "")
			return workload.Plan{Slow: func(context.Context) workload.Plan { return aggregate(all) }}
		},
	}
}

// aggregate updates the roles that get other rules; all are sorted by their names. It compares each role with all
// others, which is slow if there are many.
func aggregate(all []*rbacv1.ClusterRole) (plan workload.Plan) {
	for i, r := range all {
		if r.AggregationRule == nil {
			continue
		}
		rules, err := gathered(r, all)
		if err != nil || apiequality.Semantic.DeepEqual(rules, r.Rules) {
			continue
		}
		changed := *r
		changed.Rules = rules
		plan.Do = append(plan.Do, workload.Update{Object: &changed})
		// Later roles aggregate the changed role; otherwise two roles that aggregate each other would swap their rules
		// forever.
		all[i] = &changed
	}
	return plan
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
