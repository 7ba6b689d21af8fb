package resources

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
)

func rbac() []*Resource {
	s := Strategy{CreateOnUpdate: true, Name: path.ValidatePathSegmentName} // A-18, B-03
	return group(rbacv1.SchemeGroupVersion,
		&Resource{Plural: "clusterrolebindings", New: of[rbacv1.ClusterRoleBinding], Strategy: s},
		&Resource{Plural: "clusterroles", New: of[rbacv1.ClusterRole], Strategy: s},
		&Resource{Plural: "rolebindings", New: of[rbacv1.RoleBinding], Namespaced: true, Strategy: s},
		&Resource{Plural: "roles", New: of[rbacv1.Role], Namespaced: true, Strategy: s},
	)
}
