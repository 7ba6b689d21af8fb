package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func clusterRoleBindings() *entry.Resource {
	return bindings("clusterrolebindings", "clusterRoleBinding", false, rbacv1.ClusterRoleBinding{}.SwaggerDoc(),
		func(b *rbacv1.ClusterRoleBinding) *rbacv1.RoleBinding { return (*rbacv1.RoleBinding)(b) }, "ClusterRole")
}
