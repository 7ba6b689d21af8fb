package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(rbacv1.SchemeGroupVersion,
		clusterRoleBindings(),
		clusterRoles(),
		roleBindings(),
		roles(),
	))
}
