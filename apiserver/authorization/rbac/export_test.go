package rbac

import rbacv1 "k8s.io/api/rbac/v1"

// MissingWithin is Missing with another limit of steps.
func MissingWithin(held, wanted []rbacv1.PolicyRule, steps int) []rbacv1.PolicyRule {
	return missing(wanted, comparison{held, steps})
}
