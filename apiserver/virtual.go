package apiserver

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// serveVirtual is POST of what isn't stored: a question that is answered in its status.
func (s *Server) serveVirtual(q *request, x *rendering, b body, o *metav1.CreateOptions) error {
	obj, err := q.other(b, q.res.GroupVersionKind())
	if err != nil {
		return err
	}
	if q.res.Virtual == resources.PodBinding {
		return s.postBinding(q, x, obj.(*corev1.Binding), o)
	}
	if err := q.review(obj); err != nil {
		return err
	}
	obj.GetObjectKind().SetGroupVersionKind(q.res.GroupVersionKind())
	return q.answerOther(x, http.StatusCreated, obj)
}

// postBinding is POST of bindings: pods/binding by the body's name.
func (s *Server) postBinding(q *request, x *rendering, b *corev1.Binding, o *metav1.CreateOptions) error {
	pods := s.types.Lookup("", "v1", "pods")
	if pods == nil {
		return errNoRoute
	}
	if err := matchNamespace(q.res, b, q.namespace); err != nil {
		return err
	}
	a := q.attributes(admission.Create, b, nil)
	a.DryRun = isDryRun(o.DryRun)
	on := q.op
	on.res, on.sub, on.name, on.dryRun = pods, pods.Subresource("binding"), b.Name, isDryRun(o.DryRun)
	if err := s.bind(q.r.Context(), &on, a, b); err != nil {
		return err
	}
	return q.answerOther(x, http.StatusCreated, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
}

// review answers a question about an identity or a right. Everybody who gets in is an
// administrator, so every question about a right is answered with yes.
func (q *request) review(obj runtime.Object) error {
	allowed := authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	switch r := obj.(type) {
	case *authenticationv1.SelfSubjectReview:
		r.Status.UserInfo = authenticationv1.UserInfo{Username: q.user.Name, UID: q.user.UID, Groups: q.user.Groups, Extra: extraOf(q.user.Extra)}
		r.CreationTimestamp = metav1.Time{Time: q.s.now()}
	case *authenticationv1.TokenReview:
		if r.Spec.Token == "" {
			return badRequest("token is required for TokenReview in authentication")
		}
		r.Status = authenticationv1.TokenReviewStatus{Authenticated: false}
	case *authorizationv1.SubjectAccessReview:
		r.Status = allowed
	case *authorizationv1.LocalSubjectAccessReview:
		r.Status = allowed
	case *authorizationv1.SelfSubjectAccessReview:
		r.Status = allowed
	case *authorizationv1.SelfSubjectRulesReview:
		r.Status = authorizationv1.SubjectRulesReviewStatus{
			ResourceRules:    []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
			NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
		}
	default:
		return errNoMethod
	}
	return nil
}

func extraOf(extra map[string][]string) map[string]authenticationv1.ExtraValue {
	if len(extra) == 0 {
		return nil
	}
	out := make(map[string]authenticationv1.ExtraValue, len(extra))
	for k, v := range extra {
		out[k] = v
	}
	return out
}
