package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// governing returns the entry of a kind that decides about requests: roles and bindings.
func governing[T any, P interface {
	*T
	entry.Object
}](
	plural string, namespaced bool, setDefaults func(*T), validate func(obj, old *T) field.ErrorList,
) *entry.Resource {
	return &entry.Resource{
		Plural: plural, New: entry.New[T, P], Namespaced: namespaced,
		Storage: entry.Storage{Governs: true},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,                         // B-03
			Name:           path.ValidatePathSegmentName,
			Metadata:       entry.Metadata{Again: 2},
			Default:        entry.Default(setDefaults),
			Validate:       entry.ValidateChange(validate),
		},
	}
}

func roles() *entry.Resource { return governing("roles", true, func(*rbacv1.Role) {}, validateRole) }

func validateRole(r, old *rbacv1.Role) field.ErrorList {
	errs := policyRules(r.Rules, true)
	if old == nil {
		return errs
	}
	return check.Twice(errs)
}

func policyRules(list []rbacv1.PolicyRule, namespaced bool) field.ErrorList {
	return check.Each(list, field.NewPath("rules"), func(r *rbacv1.PolicyRule, at *field.Path) field.ErrorList {
		return policyRule(r, namespaced, at)
	})
}

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
