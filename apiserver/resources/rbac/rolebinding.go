package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func roleBindings() *entry.Resource {
	return bindings("rolebindings", "roleBinding", true, rbacv1.RoleBinding{}.SwaggerDoc(),
		func(b *rbacv1.RoleBinding) *rbacv1.RoleBinding { return b }, "Role", "ClusterRole")
}
