package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func policyRule(r *rbacv1.PolicyRule, namespaced bool, at *field.Path) (errs field.ErrorList) {
	if len(r.NonResourceURLs) > 0 {
		if namespaced {
			errs = append(errs, field.Invalid(at.Child("nonResourceURLs"), r.NonResourceURLs,
				"namespaced rules cannot apply to non-resource URLs"))
		}
		if len(r.APIGroups) > 0 || len(r.Resources) > 0 || len(r.ResourceNames) > 0 {
			errs = append(errs, field.Invalid(at.Child("nonResourceURLs"), r.NonResourceURLs,
				"rules cannot apply to both regular resources and non-resource URLs"))
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

func roleRefKept(now, was rbacv1.RoleRef) field.ErrorList {
	if now == was {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), now, "cannot change roleRef")}
}

// binding validates a binding; was is the role before an update, nil on create. The declared rules require the name of
// the role, but not of a changed one: that it is immutable comes first, and is not enforced (V-036).
func binding(
	ref rbacv1.RoleRef, was *rbacv1.RoleRef, subjects []rbacv1.Subject, namespaced bool, kinds ...string,
) field.ErrorList {
	at := field.NewPath("roleRef")
	errs := check.OneOf(ref.APIGroup, at.Child("apiGroup"), []string{rbacv1.GroupName})
	errs = append(errs, check.OneOf(ref.Kind, at.Child("kind"), kinds)...)
	if ref.Name == "" && was != nil && ref != *was {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	errs = append(errs, check.Apply(ref.Name, at.Child("name"), content.IsPathSegmentName)...)
	for i := range subjects {
		errs = append(errs, subject(&subjects[i], namespaced, field.NewPath("subjects").Index(i))...)
	}
	return errs
}

func subject(s *rbacv1.Subject, namespaced bool, at *field.Path) (errs field.ErrorList) {
	group := rbacv1.GroupName
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		if s.Name != "" {
			errs = append(errs, check.Apply(s.Name, at.Child("name"),
				check.WholeName(apivalidation.ValidateServiceAccountName))...)
		}
		group = ""
	case rbacv1.UserKind, rbacv1.GroupKind:
	default:
		return append(
			errs,
			field.NotSupported(at.Child("kind"), s.Kind, []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}),
		)
	}
	errs = append(errs, check.OneOf(s.APIGroup, at.Child("apiGroup"), []string{group})...)
	if s.Kind == rbacv1.ServiceAccountKind && !namespaced && s.Namespace == "" {
		errs = append(errs, field.Required(at.Child("namespace"), ""))
	}
	return errs
}
