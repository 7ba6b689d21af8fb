package defaults

import (
	rbacv1 "k8s.io/api/rbac/v1"
)

// ClusterRoleBinding fills in the API group of the role and of subjects.
func ClusterRoleBinding(b *rbacv1.ClusterRoleBinding) {
	fill(&b.RoleRef.APIGroup, rbacv1.GroupName)
	subjects(b.Subjects)
}

// RoleBinding fills in the API group of the role and of subjects.
func RoleBinding(b *rbacv1.RoleBinding) {
	fill(&b.RoleRef.APIGroup, rbacv1.GroupName)
	subjects(b.Subjects)
}

func subjects(list []rbacv1.Subject) {
	for i := range list {
		if s := &list[i]; s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
			fill(&s.APIGroup, rbacv1.GroupName)
		}
	}
}
