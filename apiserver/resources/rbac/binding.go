package rbac

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// bindingColumns have the description of the role in v1beta1 (v1 adds that it is immutable), as upstream's printers
// have. That package is not linked for this, as it would add unused types with all their methods.
func bindingColumns(of, roleRef string) []entry.Column {
	return []entry.Column{
		entry.NameColumn,
		entry.Text("Role", strings.TrimSuffix(roleRef, " This field is immutable.")),
		entry.AgeColumn,
		entry.Wide(entry.Text("Users", "Users in the "+of)),
		entry.Wide(entry.Text("Groups", "Groups in the "+of)),
		entry.Wide(entry.Text("ServiceAccounts", "ServiceAccounts in the "+of)),
	}
}

func roleRef(r rbacv1.RoleRef) string { return r.Kind + "/" + r.Name }

// subjects sorts subjects into users, groups and service accounts; other kinds are omitted.
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
