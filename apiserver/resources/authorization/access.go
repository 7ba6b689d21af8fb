package authorization

import (
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

const local = "LocalSubjectAccessReview"

// validate returns an error for an invalid review of the kind.
func validate(kind string, m *metav1.ObjectMeta, spec *authorizationv1.SubjectAccessReviewSpec) error {
	if errs := check(m, spec, kind == local); len(errs) > 0 {
		return invalid.New(authorizationv1.SchemeGroupVersion.WithKind(kind).GroupKind(), "", errs)
	}
	return nil
}

// access authorizes the request that a valid review describes.
func access(
	r entry.Request, spec *authorizationv1.SubjectAccessReviewSpec,
) authorizationv1.SubjectAccessReviewStatus {
	a := &authorization.Attributes{User: authorization.User{Name: spec.User, UID: spec.UID, Groups: spec.Groups}}
	for k, v := range spec.Extra {
		if a.User.Extra == nil {
			a.User.Extra = map[string][]string{}
		}
		a.User.Extra[k] = v
	}
	var errs []string
	if x := spec.NonResourceAttributes; x != nil {
		a.Verb, a.Path = x.Verb, x.Path
	} else {
		x := spec.ResourceAttributes
		a.IsResource, a.Verb, a.Namespace, a.Name = true, x.Verb, x.Namespace, x.Name
		a.Group, a.Version, a.Resource, a.Subresource = x.Group, x.Version, x.Resource, x.Subresource
		errs = selectorErrors(x)
	}
	d := r.Authorizer().Authorize(a)
	return authorizationv1.SubjectAccessReviewStatus{Allowed: d.Allowed(), Denied: d.Verdict == authorization.Deny,
		Reason: d.Reason(), EvaluationError: strings.Join(errs, "; ")}
}

// check validates a review (K pkg/apis/authorization/validation). local reports whether it is a
// LocalSubjectAccessReview, which is namespaced.
func check(m *metav1.ObjectMeta, spec *authorizationv1.SubjectAccessReviewSpec, local bool) (errs field.ErrorList) {
	at, resource, other := field.NewPath("spec"), spec.ResourceAttributes, spec.NonResourceAttributes
	if resource != nil && other != nil {
		errs = append(errs, field.Invalid(at.Child("nonResourceAttributes"), other,
			"cannot be specified in combination with resourceAttributes"))
	}
	if resource == nil && other == nil {
		errs = append(errs, field.Invalid(at.Child("resourceAttributes"), other,
			"exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(at.Child("user"), spec.User,
			"at least one of user or group must be specified"))
	}
	if resource != nil {
		errs = append(errs, checkSelectors(resource, at.Child("resourceAttributes"))...)
	}
	have, must := *m, "must be empty"
	have.ManagedFields = nil
	if local {
		have.Namespace, must = "", "must be empty except for namespace"
	}
	if !apiequality.Semantic.DeepEqual(metav1.ObjectMeta{}, have) {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), shownMeta(m), must))
	}
	if local && resource != nil && resource.Namespace != m.Namespace {
		errs = append(errs, field.Invalid(at.Child("resourceAttributes", "namespace"), resource.Namespace,
			"must match metadata.namespace"))
	}
	if local && other != nil {
		errs = append(errs, field.Invalid(at.Child("nonResourceAttributes"), other,
			"disallowed on this kind of request"))
	}
	return errs
}

// shownMeta returns metadata for an error message. It omits some long lists: a list with a million empty items would
// make a message of 100 MB.
func shownMeta(m *metav1.ObjectMeta) any {
	const most = 1000
	if len(m.OwnerReferences)+len(m.Finalizers)+len(m.Labels)+len(m.Annotations) > most {
		return field.OmitValueType{}
	}
	return m
}

// checkSelectors requires that a selector is in one of its two forms.
func checkSelectors(a *authorizationv1.ResourceAttributes, at *field.Path) (errs field.ErrorList) {
	check := func(at *field.Path, raw string, count int) {
		switch {
		case raw != "" && count > 0:
			errs = append(errs, field.Invalid(at.Child("rawSelector"), raw,
				"may not specified at the same time as requirements"))
		case raw == "" && count == 0:
			errs = append(errs, field.Required(at.Child("requirements"),
				"when "+at.String()+" is specified, requirements or rawSelector is required"))
		}
	}
	if s := a.FieldSelector; s != nil {
		check(at.Child("fieldSelector"), s.RawSelector, len(s.Requirements))
	}
	if s := a.LabelSelector; s != nil {
		check(at.Child("labelSelector"), s.RawSelector, len(s.Requirements))
	}
	return errs
}

// selectorErrors returns the errors of selectors that can't be parsed. Authorization ignores an invalid selector. This
// never allows more than the client requested: the authorization modes of this server ignore all selectors, so a
// permission to list is a permission to list all objects.
func selectorErrors(a *authorizationv1.ResourceAttributes) (errs []string) {
	if s := a.FieldSelector; s != nil {
		if !parses(s.RawSelector, fields.ParseSelector) {
			errs = append(errs, "spec.resourceAttributes.fieldSelector ignored due to parse error")
		}
	}
	if s := a.LabelSelector; s != nil {
		if !parses(s.RawSelector, func(raw string) (labels.Selector, error) { return labels.Parse(raw) }) {
			errs = append(errs, "spec.resourceAttributes.labelSelector ignored due to parse error")
		}
	}
	return errs
}

// parses reports whether a selector can be parsed. A selector that exceeds the limit for requests counts as invalid.
func parses[T any](raw string, parse func(string) (T, error)) bool {
	if authorization.LongSelector(raw) != "" {
		return false
	}
	_, err := parse(raw)
	return err == nil
}
