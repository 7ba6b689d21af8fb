package apiserver

import (
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// review answers a question about an identity or a right.
func (q *request) review(obj runtime.Object) error {
	if m, ok := obj.(metav1.Object); ok {
		if err := codec.CheckManagers(m); err != nil {
			return err
		}
	}
	switch r := obj.(type) {
	case *authenticationv1.SelfSubjectReview:
		r.Status.UserInfo = userInfo(q.User)
		r.CreationTimestamp = metav1.Time{Time: q.s.now()}
		return nil
	case *authenticationv1.TokenReview:
		return q.reviewToken(r)
	case *authorizationv1.SubjectAccessReview:
		return q.reviewAccess(&r.ObjectMeta, &r.Spec, &r.Status)
	case *authorizationv1.LocalSubjectAccessReview:
		if err := registry.MatchNamespace(q.Resource, r, q.Namespace); err != nil {
			return err
		}
		return q.reviewAccess(&r.ObjectMeta, &r.Spec, &r.Status)
	case *authorizationv1.SelfSubjectAccessReview:
		spec := authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: r.Spec.ResourceAttributes, NonResourceAttributes: r.Spec.NonResourceAttributes,
			User: q.User.Name, Groups: q.User.Groups, UID: q.User.UID}
		return q.reviewAccess(&r.ObjectMeta, &spec, &r.Status)
	case *authorizationv1.SelfSubjectRulesReview:
		return q.reviewRules(r)
	}
	return status.ErrNoMethod
}

func userInfo(u auth.User) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for k, v := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[k] = v
	}
	return info
}

// reviewToken says whose a token is (K pkg/registry/authentication/tokenreview/storage.go).
func (q *request) reviewToken(r *authenticationv1.TokenReview) error {
	if r.Spec.Token == "" {
		return status.BadRequest("token is required for TokenReview in authentication")
	}
	r.Status = authenticationv1.TokenReviewStatus{}
	token, err := bearer(&http.Request{Header: http.Header{"Authorization": {"Bearer " + r.Spec.Token}}})
	var u auth.User
	var good []string
	if err == nil {
		u, good, err = q.s.bearerOf(q.r.Context(), token, r.Spec.Audiences)
	}
	if err != nil {
		r.Status.Error = err.Error()
		return nil
	}
	r.Status.Authenticated, r.Status.User, r.Status.Audiences = true, userInfo(u), good
	return nil
}

// reviewAccess says whether somebody may do something. All four questions about one right come here.
func (q *request) reviewAccess(m *metav1.ObjectMeta, spec *authorizationv1.SubjectAccessReviewSpec, status *authorizationv1.SubjectAccessReviewStatus) error {
	if errs := q.checkReview(m, spec); len(errs) > 0 {
		return invalid.New(q.Resource.GroupVersionKind().GroupKind(), "", errs)
	}
	a := &auth.Attributes{User: auth.User{Name: spec.User, UID: spec.UID, Groups: spec.Groups}}
	for k, v := range spec.Extra {
		if a.User.Extra == nil {
			a.User.Extra = map[string][]string{}
		}
		a.User.Extra[k] = v
	}
	var faults []string
	if x := spec.NonResourceAttributes; x != nil {
		a.Verb, a.Path = x.Verb, x.Path
	} else {
		x := spec.ResourceAttributes
		a.IsResource, a.Verb, a.Namespace, a.Name = true, x.Verb, x.Namespace, x.Name
		a.Group, a.Version, a.Resource, a.Subresource = x.Group, x.Version, x.Resource, x.Subresource
		faults = selectorFaults(x)
	}
	d := q.s.registry.Authorizer.Authorize(a)
	*status = authorizationv1.SubjectAccessReviewStatus{Allowed: d.Allowed(), Denied: d.Verdict == auth.Deny, Reason: d.Reason(), EvaluationError: strings.Join(faults, "; ")}
	return nil
}

// checkReview is K pkg/apis/authorization/validation.
func (q *request) checkReview(m *metav1.ObjectMeta, spec *authorizationv1.SubjectAccessReviewSpec) (errs field.ErrorList) {
	at, resource, other := field.NewPath("spec"), spec.ResourceAttributes, spec.NonResourceAttributes
	if resource != nil && other != nil {
		errs = append(errs, field.Invalid(at.Child("nonResourceAttributes"), other, "cannot be specified in combination with resourceAttributes"))
	}
	if resource == nil && other == nil {
		errs = append(errs, field.Invalid(at.Child("resourceAttributes"), other, "exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(at.Child("user"), spec.User, "at least one of user or group must be specified"))
	}
	if resource != nil {
		errs = append(errs, checkSelectors(resource, at.Child("resourceAttributes"))...)
	}
	local, must := q.Resource.Namespaced, "must be empty"
	have := *m
	have.ManagedFields = nil
	if local {
		have.Namespace, must = "", "must be empty except for namespace"
	}
	if !apiequality.Semantic.DeepEqual(metav1.ObjectMeta{}, have) {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), shownMeta(m), must))
	}
	if local && resource != nil && resource.Namespace != m.Namespace {
		errs = append(errs, field.Invalid(at.Child("resourceAttributes", "namespace"), resource.Namespace, "must match metadata.namespace"))
	}
	if local && other != nil {
		errs = append(errs, field.Invalid(at.Child("nonResourceAttributes"), other, "disallowed on this kind of request"))
	}
	return errs
}

// shownMeta is what an error quotes of metadata. Lists that no client means to send are left out: a list of a million
// empty items would become an error of 100 MB.
func shownMeta(m *metav1.ObjectMeta) any {
	const most = 1000
	if len(m.OwnerReferences)+len(m.Finalizers)+len(m.Labels)+len(m.Annotations) > most {
		return field.OmitValueType{}
	}
	return m
}

// checkSelectors: a selector is written in one of two ways.
func checkSelectors(a *authorizationv1.ResourceAttributes, at *field.Path) (errs field.ErrorList) {
	check := func(at *field.Path, raw string, count int) {
		switch {
		case raw != "" && count > 0:
			errs = append(errs, field.Invalid(at.Child("rawSelector"), raw, "may not specified at the same time as requirements"))
		case raw == "" && count == 0:
			errs = append(errs, field.Required(at.Child("requirements"), "when "+at.String()+" is specified, requirements or rawSelector is required"))
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

// selectorFaults names selectors that can't be read. No mode here looks at selectors: a right to list is
// one to list all, so leaving them out answers for less than was asked, never for more.
func selectorFaults(a *authorizationv1.ResourceAttributes) (faults []string) {
	if s := a.FieldSelector; s != nil {
		if !readable(s.RawSelector, fields.ParseSelector) {
			faults = append(faults, "spec.resourceAttributes.fieldSelector ignored due to parse error")
		}
	}
	if s := a.LabelSelector; s != nil {
		if !readable(s.RawSelector, func(text string) (labels.Selector, error) { return labels.Parse(text) }) {
			faults = append(faults, "spec.resourceAttributes.labelSelector ignored due to parse error")
		}
	}
	return faults
}

// readable reports whether a selector can be parsed. One that is longer than a request's may be counts as one that
// can't.
func readable[T any](text string, parse func(string) (T, error)) bool {
	if checkSelector("rawSelector", text) != nil {
		return false
	}
	_, err := parse(text)
	return err == nil
}

// reviewRules lists what the client may do in a namespace.
func (q *request) reviewRules(r *authorizationv1.SelfSubjectRulesReview) error {
	if r.Spec.Namespace == "" {
		return status.BadRequest("no namespace on request")
	}
	rules, err := q.s.registry.Authorizer.Rules(q.User, r.Spec.Namespace)
	r.Status = authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{}}
	for i := range rules {
		addRule(&r.Status, &rules[i])
	}
	if err != nil {
		r.Status.EvaluationError = err.Error()
	}
	return nil
}

func addRule(s *authorizationv1.SubjectRulesReviewStatus, r *rbacv1.PolicyRule) {
	if len(r.Resources) > 0 {
		s.ResourceRules = append(s.ResourceRules, authorizationv1.ResourceRule{Verbs: slices.Clone(r.Verbs), APIGroups: slices.Clone(r.APIGroups),
			Resources: slices.Clone(r.Resources), ResourceNames: slices.Clone(r.ResourceNames)})
	}
	if len(r.NonResourceURLs) > 0 {
		s.NonResourceRules = append(s.NonResourceRules, authorizationv1.NonResourceRule{Verbs: slices.Clone(r.Verbs), NonResourceURLs: slices.Clone(r.NonResourceURLs)})
	}
}
