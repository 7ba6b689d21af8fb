package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// roleBindings is the entry of RoleBinding.
func roleBindings() *entry.Resource {
	return &entry.Resource{
		Plural: "rolebindings", New: entry.New[rbacv1.RoleBinding], Namespaced: true,
		Storage: entry.Storage{Governs: true},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,                         // B-03
			Name:           path.ValidatePathSegmentName,
			Metadata:       entry.Metadata{Again: 2},
			Default:        entry.Default(func(b *rbacv1.RoleBinding) { defaultGroups(&b.RoleRef, b.Subjects) }),
			Validate:       entry.ValidateNew(validateRoleBinding),
			ValidateUpdate: entry.ValidateChange(validateRoleBinding),
		},
		Table: roleBindingTable(),
	}
}

func validateRoleBinding(b, old *rbacv1.RoleBinding) field.ErrorList {
	var was *rbacv1.RoleRef
	if old != nil {
		was = &old.RoleRef
	}
	return binding(b.RoleRef, was, b.Subjects, true, "Role", "ClusterRole")
}

func roleBindingTable() entry.Table {
	docs := rbacv1.RoleBinding{}.SwaggerDoc()
	return entry.Printed(bindingColumns("roleBinding", docs["roleRef"]), func(b *rbacv1.RoleBinding) []any {
		return bindingCells(b.RoleRef, b.Subjects)
	})
}
