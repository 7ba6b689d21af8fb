package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func defaultSubjects(list []rbacv1.Subject) {
	for i := range list {
		if s := &list[i]; s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
			check.FillDefault(&s.APIGroup, rbacv1.GroupName)
		}
	}
}
