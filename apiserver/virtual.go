package apiserver

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// serveVirtual is POST of what isn't stored: a question that is answered in its status.
func (s *Server) serveVirtual(q *request, x *render.Rendering, b codec.Body, o *metav1.CreateOptions) error {
	obj, err := q.other(b, q.Resource.GroupVersionKind())
	if err != nil {
		return err
	}
	if q.Resource.Virtual == resources.PodBinding {
		return s.postBinding(q, x, obj.(*corev1.Binding), o)
	}
	if err := q.review(obj); err != nil {
		return err
	}
	obj.GetObjectKind().SetGroupVersionKind(q.Resource.GroupVersionKind())
	return q.answerOther(x, http.StatusCreated, obj)
}

// postBinding is POST of bindings: pods/binding by the body's name.
func (s *Server) postBinding(q *request, x *render.Rendering, b *corev1.Binding, o *metav1.CreateOptions) error {
	pods := s.registry.Types.Lookup("", "v1", "pods")
	if pods == nil {
		return status.ErrNoRoute
	}
	if err := registry.MatchNamespace(q.Resource, b, q.Namespace); err != nil {
		return err
	}
	a := q.Attributes(admission.Create, b, nil)
	a.DryRun = registry.IsDryRun(o.DryRun)
	on := q.Operation
	on.Resource, on.Subresource, on.Name, on.DryRun = pods, pods.Subresource("binding"), b.Name, registry.IsDryRun(o.DryRun)
	if err := s.registry.Bind(q.r.Context(), &on, a, b); err != nil {
		return err
	}
	return q.answerOther(x, http.StatusCreated, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
}
