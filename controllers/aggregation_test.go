package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

func rule(verb string) rbacv1.PolicyRule { return rbacv1.PolicyRule{Verbs: []string{verb}} }

// role joins an aggregate if label isn't empty, and gathers one if gathers isn't.
func role(name, label, gathers string, verbs ...string) *rbacv1.ClusterRole {
	r := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if label != "" {
		r.Labels = map[string]string{label: "true"}
	}
	if gathers != "" {
		r.AggregationRule = &rbacv1.AggregationRule{
			ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{gathers: "true"}}},
		}
	}
	for _, v := range verbs {
		r.Rules = append(r.Rules, rule(v))
	}
	return r
}

func TestAggregation(t *testing.T) {
	broken := role("broken", "", "x", "kept")
	broken.AggregationRule.ClusterRoleSelectors[0].MatchExpressions = []metav1.LabelSelectorRequirement{
		{Key: "a", Operator: "Odd"},
	}
	w := workloadtest.New()
	for _, r := range []*rbacv1.ClusterRole{
		role("z", "x", "", "get", "list"), role("a", "x", "", "list", "watch"), role("other", "y", "", "delete"),
		role("g", "x", "x", "by hand"), role("full", "", "y", "delete"), role("empty", "", "nobody", "by hand"), broken,
	} {
		w.Put(r)
	}
	if got := w.Pass(aggregatedRoles(), workload.Key{}); got != "  update ClusterRole empty\n  update ClusterRole g\n" {
		t.Error(got)
	}
	if diff := cmp.Diff([]rbacv1.PolicyRule{rule("list"), rule("watch"), rule("get")}, rules(w, "g")); diff != "" {
		t.Error(diff)
	}
	if got := w.Pass(aggregatedRoles(), workload.Key{}); got != "" {
		t.Error(got)
	}
}

func rules(w *workloadtest.World, name string) []rbacv1.PolicyRule {
	return workload.Get[*rbacv1.ClusterRole](w, "", name).Rules
}

// TestRolesThatAggregateEachOtherConverge: roles that aggregate each other converge, and roles that aggregate
// aggregated roles are filled.
func TestRolesThatAggregateEachOtherConverge(t *testing.T) {
	w := workloadtest.New()
	for _, r := range []*rbacv1.ClusterRole{
		role("circle-a", "p", "q", "get"), role("circle-b", "q", "p", "list"),
		role("a", "", "x"), role("b", "x", "y"), role("c", "y", "z"), role("d", "z", "", "get"),
	} {
		w.Put(r)
	}
	for range 4 {
		w.Pass(aggregatedRoles(), workload.Key{})
	}
	if got := w.Pass(aggregatedRoles(), workload.Key{}); got != "" {
		t.Errorf("there is still something to change: %s", got)
	}
	for _, name := range []string{"a", "b", "c"} {
		if diff := cmp.Diff([]rbacv1.PolicyRule{rule("get")}, rules(w, name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
