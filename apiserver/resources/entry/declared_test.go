package entry_test

import (
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/rbac"
)

// declaredRoles returns an entry whose hooks have one error.
func declaredRoles() *entry.Resource {
	r := &entry.Resource{
		Plural: "roles", New: entry.New[rbacv1.Role],
		Strategy: entry.Strategy{
			Validate: func(_, _ runtime.Object) field.ErrorList {
				return field.ErrorList{field.Forbidden(field.NewPath("hook"), "")}
			},
		},
	}
	return entry.Declared(rbac.RegisterValidations, nil, entry.Group(rbacv1.SchemeGroupVersion, r))[0]
}

func texts(errs field.ErrorList) (all []string) {
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

// TestDeclaredErrorsFollowThoseOfHooks: errors of declared rules follow those of hooks, and unchanged values are not
// validated again (V-035, V-037).
func TestDeclaredErrorsFollowThoseOfHooks(t *testing.T) {
	s := declaredRoles().Strategy
	old := &rbacv1.Role{Rules: []rbacv1.PolicyRule{{APIGroups: []string{"a"}}}}
	const hook, verbs = "hook: Forbidden", "rules[0].verbs: Required value"
	if got := texts(s.Validate(old, nil)); !slices.Equal(got, []string{hook, verbs}) {
		t.Errorf("create: %v", got)
	}
	same := old.DeepCopy()
	same.Labels = map[string]string{"a": "b"}
	if got := texts(s.Validate(same, old)); !slices.Equal(got, []string{hook}) {
		t.Errorf("unchanged: %v", got)
	}
	other := old.DeepCopy()
	other.Rules[0].APIGroups = []string{"b"}
	if got := texts(s.Validate(other, old)); !slices.Equal(got, []string{hook, verbs}) {
		t.Errorf("changed: %v", got)
	}
}

// TestDeclaredInLongLists: each item of a long list is validated, and the errors have the item's index.
func TestDeclaredInLongLists(t *testing.T) {
	s := declaredRoles().Strategy
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "r", Finalizers: make([]string, 3000)},
		Rules:      make([]rbacv1.PolicyRule, 3500),
	}
	for i := range role.Rules {
		role.Rules[i].Verbs = []string{"get"}
	}
	for _, i := range []int{0, 999, 1000, 2999, 3000, 3499} {
		bad := role.DeepCopy()
		bad.Rules[i].Verbs = nil
		want := fmt.Sprintf("rules[%d].verbs: Required value", i)
		if got := texts(s.Validate(bad, nil)); !slices.Contains(got, want) || len(got) != 2 {
			t.Errorf("%d: %v", i, got)
		}
		if got := texts(s.Validate(bad, role)); !slices.Contains(got, want) || len(got) != 2 {
			t.Errorf("update of %d: %v", i, got)
		}
		if len(bad.Rules) != 3500 || len(bad.Finalizers) != 3000 {
			t.Error("the object was changed")
		}
	}
}
