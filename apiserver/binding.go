package apiserver

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// serveBinding is POST of pods/binding: it assigns a pod to a node.
func (s *Server) serveBinding(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	in, o, err := q.creation()
	if err != nil {
		return err
	}
	obj, err := q.other(in, registry.BindingKind)
	if err != nil {
		return err
	}
	b := obj.(*corev1.Binding)
	if err := registry.MatchNamespace(q.Resource, b, q.Namespace); err != nil {
		return err
	}
	q.DryRun = registry.IsDryRun(o.DryRun)
	if err := s.registry.Bind(q.r.Context(), &q.Operation, q.Attributes(admission.Create, b, nil), b); err != nil {
		return err
	}
	return q.answerOther(x, http.StatusCreated, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
}
