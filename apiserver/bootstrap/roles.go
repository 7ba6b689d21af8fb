package bootstrap

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Roles creates missing default roles and bindings, and updates the others. The system namespaces must exist. It
// returns errors, but only logs a rejected request or an object that can't be decoded. Users can cause these, and must
// not prevent the server from starting (K pkg/registry/rbac/rest/storage_rbac.go: EnsureRBACPolicy).
func Roles(ctx context.Context, r *registry.Registry) error {
	all := DefaultRoles()
	return runAll(ctx, r, slices.Concat(
		roleJobs(r, "clusterroles", all.ClusterRoles, reconcileClusterRole),
		roleJobs(r, "roles", all.Roles, reconcileRole),
		roleJobs(r, "clusterrolebindings", all.ClusterRoleBindings, func(a, b *rbacv1.ClusterRoleBinding) error {
			// Both kinds have the same fields.
			return reconcileBinding((*rbacv1.RoleBinding)(a), (*rbacv1.RoleBinding)(b))
		}),
		roleJobs(r, "rolebindings", all.RoleBindings, reconcileBinding),
	))
}

// roleJobs returns jobs that create the objects, or change or recreate them as reconcile decides.
func roleJobs[T registry.Object](r *registry.Registry, plural string, all []T, reconcile func(have, want T) error) (
	jobs []func(context.Context) error) {
	for _, want := range all {
		jobs = append(jobs, func(ctx context.Context) error {
			fresh := want.DeepCopyObject().(T) // all servers of the process share the default roles
			return put(ctx, r, rbacv1.GroupName, plural, fresh, func(have T) error { return reconcile(have, want) })
		})
	}
	return jobs
}
