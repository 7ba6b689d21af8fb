package validation

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// twice is an update's judgement of a new object by both upstream's strategy and its ValidateXUpdate,
// so that clients see each error twice.
func twice(errs field.ErrorList) field.ErrorList { return append(errs, errs...) }

func role(r *rbacv1.Role) (errs field.ErrorList) {
	for i := range invalid.Each(r.Rules, &errs) {
		errs = append(errs, policyRule(&r.Rules[i], true, field.NewPath("rules").Index(i))...)
	}
	return errs
}

func roleUpdate(r, _ *rbacv1.Role) field.ErrorList { return twice(role(r)) }

func clusterRole(r *rbacv1.ClusterRole) field.ErrorList { return clusterRoleOver(r, false) }

func clusterRoleOver(r *rbacv1.ClusterRole, tolerate bool) (errs field.ErrorList) {
	for i := range invalid.Each(r.Rules, &errs) {
		errs = append(errs, policyRule(&r.Rules[i], false, field.NewPath("rules").Index(i))...)
	}
	if r.AggregationRule == nil {
		return errs
	}
	selectors := field.NewPath("aggregationRule", "clusterRoleSelectors")
	if len(r.AggregationRule.ClusterRoleSelectors) == 0 {
		errs = append(errs, field.Required(selectors, "at least one clusterRoleSelector required if aggregationRule is non-nil"))
	}
	opts := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: tolerate}
	for i := range invalid.Each(r.AggregationRule.ClusterRoleSelectors, &errs) {
		selector := &r.AggregationRule.ClusterRoleSelectors[i]
		errs = append(errs, invalid.Selector(selector, opts, selectors.Index(i))...)
		if _, err := invalid.AsSelector(selector); err != nil {
			errs = append(errs, field.Invalid(selectors.Index(i), nil, "invalid label selector."))
		}
	}
	return errs
}

func clusterRoleUpdate(r, old *rbacv1.ClusterRole) field.ErrorList {
	tolerate := false
	if old.AggregationRule != nil {
		for i := range old.AggregationRule.ClusterRoleSelectors {
			tolerate = tolerate || metav1validation.LabelSelectorHasInvalidLabelValue(&old.AggregationRule.ClusterRoleSelectors[i])
		}
	}
	return twice(clusterRoleOver(r, tolerate))
}

func policyRule(r *rbacv1.PolicyRule, namespaced bool, at *field.Path) (errs field.ErrorList) {
	if len(r.Verbs) == 0 {
		errs = append(errs, field.Required(at.Child("verbs"), "verbs must contain at least one value"))
	}
	if len(r.NonResourceURLs) > 0 {
		if namespaced {
			errs = append(errs, field.Invalid(at.Child("nonResourceURLs"), r.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs"))
		}
		if len(r.APIGroups) > 0 || len(r.Resources) > 0 || len(r.ResourceNames) > 0 {
			errs = append(errs, field.Invalid(at.Child("nonResourceURLs"), r.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"))
		}
		return errs
	}
	if len(r.APIGroups) == 0 {
		errs = append(errs, field.Required(at.Child("apiGroups"), "resource rules must supply at least one api group"))
	}
	if len(r.Resources) == 0 {
		errs = append(errs, field.Required(at.Child("resources"), "resource rules must supply at least one resource"))
	}
	return errs
}

func roleBinding(b *rbacv1.RoleBinding) field.ErrorList {
	return binding(b.RoleRef, b.Subjects, true, "Role", "ClusterRole")
}

func roleBindingUpdate(b, old *rbacv1.RoleBinding) field.ErrorList {
	return append(twice(roleBinding(b)), roleRefKept(b.RoleRef, old.RoleRef)...)
}

func clusterRoleBinding(b *rbacv1.ClusterRoleBinding) field.ErrorList {
	return binding(b.RoleRef, b.Subjects, false, "ClusterRole")
}

func clusterRoleBindingUpdate(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
	return append(twice(clusterRoleBinding(b)), roleRefKept(b.RoleRef, old.RoleRef)...)
}

func roleRefKept(now, was rbacv1.RoleRef) field.ErrorList {
	if now == was {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), internal(now), "cannot change roleRef")}
}

func binding(ref rbacv1.RoleRef, subjects []rbacv1.Subject, namespaced bool, kinds ...string) field.ErrorList {
	at := field.NewPath("roleRef")
	errs := oneOf(ref.APIGroup, at.Child("apiGroup"), []string{rbacv1.GroupName})
	errs = append(errs, oneOf(ref.Kind, at.Child("kind"), kinds)...)
	if ref.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	} else {
		errs = append(errs, judge(ref.Name, at.Child("name"), content.IsPathSegmentName)...)
	}
	for i := range invalid.Each(subjects, &errs) {
		errs = append(errs, subject(&subjects[i], namespaced, field.NewPath("subjects").Index(i))...)
	}
	return errs
}

func subject(s *rbacv1.Subject, namespaced bool, at *field.Path) (errs field.ErrorList) {
	if s.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	group := rbacv1.GroupName
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		if s.Name != "" {
			errs = append(errs, judge(s.Name, at.Child("name"), whole(apivalidation.ValidateServiceAccountName))...)
		}
		group = ""
	case rbacv1.UserKind:
		if s.Name == "" {
			errs = append(errs, field.Invalid(at.Child("name"), s.Name, "user name cannot be empty"))
		}
	case rbacv1.GroupKind:
		if s.Name == "" {
			errs = append(errs, field.Invalid(at.Child("name"), s.Name, "group name cannot be empty"))
		}
	default:
		return append(errs, field.NotSupported(at.Child("kind"), s.Kind, []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}))
	}
	errs = append(errs, oneOf(s.APIGroup, at.Child("apiGroup"), []string{group})...)
	if s.Kind == rbacv1.ServiceAccountKind && !namespaced && s.Namespace == "" {
		errs = append(errs, field.Required(at.Child("namespace"), ""))
	}
	return errs
}
