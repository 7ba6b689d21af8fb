package rbac

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func clusterRoles() *entry.Resource {
	return governing("clusterroles", false, func(*rbacv1.ClusterRole) {}, validateClusterRole)
}

// validateClusterRole accepts invalid label values in selectors if the old role has any.
func validateClusterRole(r, old *rbacv1.ClusterRole) field.ErrorList {
	errs := policyRules(r.Rules, false)
	if a := r.AggregationRule; a != nil {
		errs = append(errs, aggregation(a.ClusterRoleSelectors, slices.ContainsFunc(
			check.ValueOf(check.ValueOf(old).AggregationRule).ClusterRoleSelectors, func(s metav1.LabelSelector) bool {
				return metav1validation.LabelSelectorHasInvalidLabelValue(&s)
			}))...)
	}
	if old == nil {
		return errs
	}
	return check.Twice(errs)
}

func aggregation(list []metav1.LabelSelector, tolerate bool) field.ErrorList {
	at := field.NewPath("aggregationRule", "clusterRoleSelectors")
	opts := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: tolerate}
	errs := check.Present(len(list) > 0, at, "at least one clusterRoleSelector required if aggregationRule is non-nil")
	return append(errs, check.Each(list, at, func(s *metav1.LabelSelector, at *field.Path) field.ErrorList {
		errs := metav1validation.ValidateLabelSelector(s, opts, at)
		if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
			errs = append(errs, field.Invalid(at, nil, "invalid label selector."))
		}
		return errs
	})...)
}
