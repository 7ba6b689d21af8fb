package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func clusterRoles() *entry.Resource {
	return &entry.Resource{
		Plural: "clusterroles", New: entry.New[rbacv1.ClusterRole],
		Storage: entry.Storage{Governs: true},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,                         // B-03
			Name:           path.ValidatePathSegmentName,
			Metadata:       entry.Metadata{Again: 2},
			Default:        entry.DefaultEmptyLists[rbacv1.ClusterRole](),
			Validate:       entry.ValidateEither(validateClusterRole, validateClusterRoleUpdate),
		},
	}
}

func validateClusterRole(r *rbacv1.ClusterRole) field.ErrorList { return clusterRoleOver(r, false) }

func clusterRoleOver(r *rbacv1.ClusterRole, tolerate bool) (errs field.ErrorList) {
	for i := range r.Rules {
		errs = append(errs, policyRule(&r.Rules[i], false, field.NewPath("rules").Index(i))...)
	}
	if r.AggregationRule == nil {
		return errs
	}
	selectors := field.NewPath("aggregationRule", "clusterRoleSelectors")
	errs = append(errs, check.Present(len(r.AggregationRule.ClusterRoleSelectors) > 0, selectors,
		"at least one clusterRoleSelector required if aggregationRule is non-nil")...)
	opts := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: tolerate}
	for i := range r.AggregationRule.ClusterRoleSelectors {
		selector := &r.AggregationRule.ClusterRoleSelectors[i]
		errs = append(errs, metav1validation.ValidateLabelSelector(selector, opts, selectors.Index(i))...)
		if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
			errs = append(errs, field.Invalid(selectors.Index(i), nil, "invalid label selector."))
		}
	}
	return errs
}

func validateClusterRoleUpdate(r, old *rbacv1.ClusterRole) field.ErrorList {
	tolerate := false
	if old.AggregationRule != nil {
		for i := range old.AggregationRule.ClusterRoleSelectors {
			tolerate = tolerate ||
				metav1validation.LabelSelectorHasInvalidLabelValue(&old.AggregationRule.ClusterRoleSelectors[i])
		}
	}
	return check.Twice(clusterRoleOver(r, tolerate))
}
