package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// clusterRoleBindings is the entry of ClusterRoleBinding.
func clusterRoleBindings() *entry.Resource {
	return &entry.Resource{
		Plural: "clusterrolebindings", New: entry.New[rbacv1.ClusterRoleBinding],
		Storage: entry.Storage{Governs: true},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,                         // B-03
			Name:           path.ValidatePathSegmentName,
			Metadata:       entry.Metadata{Again: 2},
			Default:        entry.Default(func(b *rbacv1.ClusterRoleBinding) { defaultGroups(&b.RoleRef, b.Subjects) }),
			Validate:       entry.ValidateNew(validateClusterRoleBinding),
			ValidateUpdate: entry.ValidateChange(validateClusterRoleBinding),
		},
		Table: clusterRoleBindingTable(),
	}
}

func validateClusterRoleBinding(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
	var was *rbacv1.RoleRef
	if old != nil {
		was = &old.RoleRef
	}
	return binding(b.RoleRef, was, b.Subjects, false, "ClusterRole")
}

func clusterRoleBindingTable() entry.Table {
	docs := rbacv1.ClusterRoleBinding{}.SwaggerDoc()
	return entry.Printed(bindingColumns("clusterRoleBinding", docs["roleRef"]), func(b *rbacv1.ClusterRoleBinding) []any {
		return bindingCells(b.RoleRef, b.Subjects)
	})
}
