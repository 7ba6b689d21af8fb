package rbac_test

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac"
)

func TestReasonNamesBindingOrMissingRole(t *testing.T) {
	p := rbac.New()
	read := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
	p.SetRole(rbac.Name{Name: "reader"}, read)
	p.SetRole(rbac.Name{Namespace: "n", Name: "r"}, read)
	p.SetBinding(rbac.Name{Name: "b"}, rbacv1.RoleRef{Kind: "ClusterRole", Name: "reader"},
		[]rbacv1.Subject{{Kind: "Group", Name: "devs"}, {Kind: "User", Name: "alice"}})
	p.SetBinding(rbac.Name{Namespace: "n", Name: "c"}, rbacv1.RoleRef{Kind: "Role", Name: "r"},
		[]rbacv1.Subject{{Kind: "ServiceAccount", Name: "bot"}})
	p.SetBinding(rbac.Name{Namespace: "n", Name: "d"}, rbacv1.RoleRef{Kind: "Role", Name: "gone"},
		[]rbacv1.Subject{{Kind: "User", Name: "bob"}})
	p.SetBinding(rbac.Name{Namespace: "n", Name: "e"}, rbacv1.RoleRef{Kind: "ClusterRole", Name: "lost"},
		[]rbacv1.Subject{{Kind: "Group", Name: "bobs"}})
	for _, c := range []struct {
		user      authorization.User
		namespace string
		allowed   bool
		reason    string
	}{
		{
			authorization.User{Name: "alice"}, "x", true,
			`RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "alice"`,
		},
		{
			authorization.User{Name: "alice", Groups: []string{"devs"}}, "", true,
			`RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to Group "devs"`,
		},
		{
			authorization.ServiceAccount("n", "bot"), "n", true,
			`RBAC: allowed by RoleBinding "c/n" of Role "r" to ServiceAccount "bot/n"`,
		},
		{authorization.ServiceAccount("m", "bot"), "n", false, ""},
		{authorization.ServiceAccount("n", "bot"), "m", false, ""},
		{authorization.User{Name: "bob"}, "n", false, `RBAC: role.rbac.authorization.k8s.io "gone" not found`},
		{
			authorization.User{Name: "bob", Groups: []string{"bobs"}}, "n", false,
			`RBAC: [clusterrole.rbac.authorization.k8s.io "lost" not found, role.rbac.authorization.k8s.io "gone" not found]`,
		},
		{authorization.User{Name: "bob"}, "m", false, ""},
	} {
		d := p.Decide(
			&authorization.Attributes{
				User: c.user, Verb: "get", IsResource: true, Resource: "pods", Namespace: c.namespace, Name: "a",
			},
		)
		if d.Allowed() != c.allowed || d.Reason() != c.reason {
			t.Errorf("%s in %q: %v, %s", c.user.Name, c.namespace, d.Verdict, d.Reason())
		}
	}
}

func TestDescriptionJoinsVerbsOfResources(t *testing.T) {
	got := rbac.Describe([]rbacv1.PolicyRule{
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"a"}},
		{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}},
		{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}},
	})
	want := `{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}
{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}
{NonResourceURLs:["/x"], Verbs:["get"]}`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestRepeatedRulesAreLimited: a role with several bindings is listed for each of them, up to a limit.
func TestRepeatedRulesAreLimited(t *testing.T) {
	p := rbac.New()
	p.SetRole(rbac.Name{Namespace: "n", Name: "small"}, make([]rbacv1.PolicyRule, 1))
	p.SetRole(rbac.Name{Namespace: "n", Name: "large"}, make([]rbacv1.PolicyRule, 5000))
	for i := range 1000 {
		for _, role := range []string{"small", "large"} {
			p.SetBinding(rbac.Name{Namespace: "n", Name: fmt.Sprint(role, i)}, rbacv1.RoleRef{Kind: "Role", Name: role},
				[]rbacv1.Subject{{Kind: "User", Name: "u"}})
		}
	}
	if rules, err := p.Rules(authorization.User{Name: "u"}, "n"); err != nil || len(rules) != 5000+1000 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
}
