package rbac

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// bindings returns the entry of a kind of bindings. as converts a binding to a RoleBinding, which has the same fields.
// one is the kind's name in descriptions. kinds are the kinds of roles to which a binding may refer.
func bindings[T any, P interface {
	*T
	entry.Object
}](
	plural, one string, namespaced bool, docs map[string]string,
	as func(*T) *rbacv1.RoleBinding, kinds ...string,
) *entry.Resource {
	validate := func(b, old *T) field.ErrorList { return binding(as(b), as(old), namespaced, kinds...) }
	r := governing[T, P](plural, namespaced, func(b *T) { defaultGroups(as(b)) }, validate)
	r.Table = entry.Listed(bindingColumns(one, docs["roleRef"]), func(b P) []any { return bindingCells(as(b)) })
	return r
}

// bindingColumns returns the columns of bindings. As in upstream, the role's description is that of v1beta1: in v1 it
// ends with a sentence that the field is immutable. The package of v1beta1 would add unused types and their methods to
// the binary.
func bindingColumns(of, roleRef string) []entry.Column {
	return []entry.Column{
		entry.Text("Role", strings.TrimSuffix(roleRef, " This field is immutable.")),
		entry.Wide(entry.Text("Users", "Users in the "+of)),
		entry.Wide(entry.Text("Groups", "Groups in the "+of)),
		entry.Wide(entry.Text("ServiceAccounts", "ServiceAccounts in the "+of)),
	}
}

// bindingCells returns the cells with the names of users, groups and service accounts. It omits subjects of other
// kinds.
func bindingCells(b *rbacv1.RoleBinding) []any {
	var users, groups, accounts []string
	for _, s := range b.Subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			users = append(users, s.Name)
		case rbacv1.GroupKind:
			groups = append(groups, s.Name)
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, s.Namespace+"/"+s.Name)
		}
	}
	return []any{
		b.RoleRef.Kind + "/" + b.RoleRef.Name,
		strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", "),
	}
}

// defaultGroups sets the default API group of a binding's role and of its subjects.
func defaultGroups(b *rbacv1.RoleBinding) {
	check.FillDefault(&b.RoleRef.APIGroup, rbacv1.GroupName)
	for i := range b.Subjects {
		if s := &b.Subjects[i]; s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
			check.FillDefault(&s.APIGroup, rbacv1.GroupName)
		}
	}
}

// binding validates a binding. old is nil on create. An update is validated twice. The declared rules first require
// that an update does not change the role. If it does, they do not validate the role's name, and their error is not
// enforced, so binding requires the name (V-036).
func binding(b, old *rbacv1.RoleBinding, namespaced bool, kinds ...string) field.ErrorList {
	at, ref := field.NewPath("roleRef"), b.RoleRef
	errs := check.OneOf(ref.APIGroup, at.Child("apiGroup"), []string{rbacv1.GroupName})
	errs = append(errs, check.OneOf(ref.Kind, at.Child("kind"), kinds)...)
	errs = append(errs, check.Present(ref.Name != "" || old == nil || ref == old.RoleRef, at.Child("name"), "")...)
	errs = append(errs, check.PathSegment(ref.Name, at.Child("name"))...)
	for i := range b.Subjects {
		errs = append(errs, subject(&b.Subjects[i], namespaced, field.NewPath("subjects").Index(i))...)
	}
	if old == nil {
		return errs
	}
	return append(check.Twice(errs), check.Reject(ref != old.RoleRef, at, ref, "cannot change roleRef")...)
}

func subject(s *rbacv1.Subject, namespaced bool, at *field.Path) (errs field.ErrorList) {
	group := rbacv1.GroupName
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		errs = check.NonEmpty(s.Name, at.Child("name"), check.DNSSubdomain)
		group = ""
	case rbacv1.UserKind, rbacv1.GroupKind:
	default:
		return append(
			errs,
			field.NotSupported(at.Child("kind"), s.Kind, []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}),
		)
	}
	errs = append(errs, check.OneOf(s.APIGroup, at.Child("apiGroup"), []string{group})...)
	return append(errs, check.Present(s.Kind != rbacv1.ServiceAccountKind || namespaced || s.Namespace != "",
		at.Child("namespace"), "")...)
}
