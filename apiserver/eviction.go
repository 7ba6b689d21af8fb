package apiserver

import (
	"net/http"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// serveEviction is POST of pods/eviction: a DELETE that asks the pod's disruption budget first
// (C-69; K pkg/registry/core/pod/storage/eviction.go).
func (s *Server) serveEviction(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	b, o, err := q.creation()
	if err != nil {
		return err
	}
	obj, err := q.other(b, registry.EvictionKind)
	if err != nil {
		return err
	}
	e := obj.(*policyv1.Eviction)
	if e.Name != q.Name {
		return status.BadRequest("name in URL does not match name in Eviction object")
	}
	if err := registry.MatchNamespace(q.Resource, e, q.Namespace); err != nil {
		return err
	}
	opts, err := registry.EvictionOptions(e.DeleteOptions, o.DryRun)
	if err != nil {
		return err
	}
	q.DryRun = registry.IsDryRun(opts.DryRun)
	if err := s.registry.Evict(q.r.Context(), &q.Operation, e, opts); err != nil {
		return err
	}
	return q.answerOther(x, http.StatusCreated, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
}
