package bootstrap

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDefaultRoles(t *testing.T) {
	o := DefaultRoles()
	if got := []int{
		len(o.ClusterRoles), len(o.ClusterRoleBindings), len(o.Roles), len(o.RoleBindings),
	}; !cmp.Equal(got, []int{73, 54, 7, 7}) {
		t.Errorf("there are %v", got)
	}
	refs := map[string]bool{}
	for _, r := range o.ClusterRoles {
		refs[r.Name] = true
		if len(r.Rules) == 0 && r.AggregationRule == nil {
			t.Errorf("ClusterRole %s grants nothing", r.Name)
		}
	}
	for _, r := range o.Roles {
		refs[r.Namespace+"/"+r.Name] = true
	}
	for _, b := range o.ClusterRoleBindings {
		if !refs[b.RoleRef.Name] {
			t.Errorf("%s is of %s, which there isn't", b.Name, b.RoleRef.Name)
		}
	}
	for _, b := range o.RoleBindings {
		if !refs[b.Namespace+"/"+b.RoleRef.Name] {
			t.Errorf("%s is of %s, which there isn't", b.Name, b.RoleRef.Name)
		}
	}
}

func TestPolicyTextBecomesRolesAndBindings(t *testing.T) {
	o := parse(
		"ClusterRole a joins=x gathers=y\n\tget,list core,apps pods one\n\tget url /a,/b\nRoleBinding n/b Role=a User=u ServiceAccount=n/s\n",
	)
	a := o.ClusterRoles[0]
	want := []rbacv1.PolicyRule{
		{
			Verbs: []string{"get", "list"}, APIGroups: []string{"", "apps"}, Resources: []string{"pods"},
			ResourceNames: []string{"one"},
		},
		{Verbs: []string{"get"}, NonResourceURLs: []string{"/a", "/b"}},
	}
	if diff := cmp.Diff(want, a.Rules); diff != "" || a.Labels[labelAggregate+"x"] != "true" || a.AggregationRule == nil {
		t.Errorf("%+v\n%s", a, diff)
	}
	b := o.RoleBindings[0]
	subjects := []rbacv1.Subject{
		{Kind: "User", APIGroup: rbacv1.GroupName, Name: "u"}, {Kind: "ServiceAccount", Namespace: "n", Name: "s"},
	}
	if diff := cmp.Diff(subjects, b.Subjects); diff != "" || b.Namespace != "n" || b.Name != "b" ||
		b.RoleRef.Kind != "Role" {
		t.Errorf("%+v\n%s", b, diff)
	}
}

// TestReconcileMarks: labels and annotations that a user has changed stay. Only the annotation autoupdate with the
// value false prevents other changes.
func TestReconcileMarks(t *testing.T) {
	const joins = labelAggregate + "edit"
	want := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{joins: "true", "l": "v"},
		Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"},
	},
		Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}}
	for value, kept := range map[string]bool{"false": true, "": false, "no": false, "False": false, "true": false} {
		have := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{joins: "false"}, Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: value},
		}}
		after := map[string]string{joins: "false", "l": "v"}
		if kept {
			delete(after, "l")
		}
		if changed := changes(t, have, want); changed == kept || kept != (len(have.Rules) == 0) ||
			have.Annotations[rbacv1.AutoUpdateAnnotationKey] != value || !cmp.Equal(have.Labels, after) {
			t.Errorf("autoupdate %q: %v, %+v", value, changed, have)
		}
	}
}

// changes reconciles a role, and reports whether this changed it.
func changes(t *testing.T, have, want *rbacv1.ClusterRole) bool {
	t.Helper()
	before := have.DeepCopy()
	if err := reconcileClusterRole(have, want); err != nil {
		t.Error(err)
	}
	return !apiequality.Semantic.DeepEqual(before, have)
}

func TestMissingRulesAndSubjectsAreAdded(t *testing.T) {
	want := DefaultRoles().ClusterRoles[1] // cluster-admin
	have := want.DeepCopy()
	if changes(t, have, want) {
		t.Error("nothing is missing, but there is a change")
	}
	mine := rbacv1.PolicyRule{Verbs: []string{"use"}, APIGroups: []string{"x"}, Resources: []string{"y"}}
	have.Rules = []rbacv1.PolicyRule{mine}
	if !changes(t, have, want) || !cmp.Equal(have.Rules[0], mine) || len(have.Rules) < 2 {
		t.Errorf("missing rules are not added, or others are lost: %+v", have.Rules)
	}
	if changes(t, have, want) {
		t.Error("the second time changes something")
	}
	have.Rules, have.Annotations[rbacv1.AutoUpdateAnnotationKey] = nil, "false"
	if changes(t, have, want) || len(have.Rules) != 0 {
		t.Error("a role that is kept is changed")
	}
	gathers := &rbacv1.AggregationRule{
		ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"x": "y"}}},
	}
	have = want.DeepCopy()
	if have.AggregationRule = gathers; !changes(t, have, want) || have.AggregationRule != nil {
		t.Error("a role that shouldn't gather others does")
	}
	b := DefaultRoles().RoleBindings[0]
	other := b.DeepCopy()
	other.RoleRef.Name = "x"
	less := b.DeepCopy()
	less.Subjects = []rbacv1.Subject{{Kind: "User", Name: "mine"}}
	if err := reconcileBinding(other, b); !errors.Is(err, errRecreate) {
		t.Error(err)
	}
	if err := reconcileBinding(less, b); err != nil || len(less.Subjects) != 1+len(b.Subjects) {
		t.Errorf("subjects are %v", less.Subjects)
	}
}
