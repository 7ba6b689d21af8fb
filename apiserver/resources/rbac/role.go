package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func roles() *entry.Resource {
	return &entry.Resource{
		Plural: "roles", New: entry.New[rbacv1.Role], Namespaced: true,
		Storage: entry.Storage{Governs: true},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,                         // B-03
			Name:           path.ValidatePathSegmentName,
			Metadata:       entry.Metadata{Again: 2},
			Default:        entry.DefaultEmptyLists[rbacv1.Role](),
			Validate:       entry.ValidateEither(validateRole, validateRoleUpdate),
		},
	}
}

func validateRole(r *rbacv1.Role) (errs field.ErrorList) {
	for i := range r.Rules {
		errs = append(errs, policyRule(&r.Rules[i], true, field.NewPath("rules").Index(i))...)
	}
	return errs
}

func validateRoleUpdate(r, _ *rbacv1.Role) field.ErrorList { return check.Twice(validateRole(r)) }

func policyRule(r *rbacv1.PolicyRule, namespaced bool, at *field.Path) (errs field.ErrorList) {
	if len(r.NonResourceURLs) > 0 {
		errs = append(errs, check.Reject(namespaced, at.Child("nonResourceURLs"), r.NonResourceURLs,
			"namespaced rules cannot apply to non-resource URLs")...)
		errs = append(errs, check.Reject(len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) > 0,
			at.Child("nonResourceURLs"), r.NonResourceURLs,
			"rules cannot apply to both regular resources and non-resource URLs")...)
		return errs
	}
	errs = append(errs, check.Present(len(r.APIGroups) > 0, at.Child("apiGroups"),
		"resource rules must supply at least one api group")...)
	return append(errs, check.Present(len(r.Resources) > 0, at.Child("resources"),
		"resource rules must supply at least one resource")...)
}
