package printers

import (
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
)

func clusterRoleBindingColumns() []Column {
	return bindingColumns("clusterRoleBinding", rbacv1.ClusterRoleBinding{}.SwaggerDoc()["roleRef"])
}

func roleBindingColumns() []Column {
	return bindingColumns("roleBinding", rbacv1.RoleBinding{}.SwaggerDoc()["roleRef"])
}

// bindingColumns describe the role as v1beta1 does (v1 adds that it is immutable), because
// upstream's printers still do. That package isn't linked for this: types that nothing else needs
// would come along with all their methods.
func bindingColumns(of, roleRef string) []Column {
	return []Column{
		nameColumn,
		text("Role", strings.TrimSuffix(roleRef, " This field is immutable.")),
		ageColumn,
		wide(text("Users", "Users in the "+of)),
		wide(text("Groups", "Groups in the "+of)),
		wide(text("ServiceAccounts", "ServiceAccounts in the "+of)),
	}
}

func clusterRoleBindingCells(b *rbacv1.ClusterRoleBinding, now time.Time) []any {
	users, groups, accounts := subjects(b.Subjects)
	return []any{b.Name, roleRef(b.RoleRef), age(&b.ObjectMeta, now), users, groups, accounts}
}

func roleBindingCells(b *rbacv1.RoleBinding, now time.Time) []any {
	users, groups, accounts := subjects(b.Subjects)
	return []any{b.Name, roleRef(b.RoleRef), age(&b.ObjectMeta, now), users, groups, accounts}
}

func roleRef(r rbacv1.RoleRef) string { return r.Kind + "/" + r.Name }

// subjects sorts subjects into users, groups and service accounts; other kinds aren't shown.
func subjects(all []rbacv1.Subject) (users, groups, accounts string) {
	var u, g, a []string
	for _, s := range all {
		switch s.Kind {
		case rbacv1.UserKind:
			u = append(u, s.Name)
		case rbacv1.GroupKind:
			g = append(g, s.Name)
		case rbacv1.ServiceAccountKind:
			a = append(a, s.Namespace+"/"+s.Name)
		}
	}
	return strings.Join(u, ", "), strings.Join(g, ", "), strings.Join(a, ", ")
}
