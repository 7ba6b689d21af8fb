package endpoints

import (
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// serveScale reads and writes an object's number of replicas as a Scale (resources.Scale).
func (a *API) serveScale(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	var next registry.Scaling
	switch q.verb {
	case "get":
		sc, err := a.registry.GetScale(q.r.Context(), &q.Operation, exchange.Query(q.r).Get("resourceVersion"))
		if err != nil {
			return err
		}
		return q.answerOther(x, http.StatusOK, sc)
	case "update":
		next, err = q.replaceScale()
	default:
		next, err = q.patchScale()
	}
	if err != nil {
		return err
	}
	sc, err := a.registry.Scale(q.r.Context(), &q.Operation, next)
	if err != nil {
		return err
	}
	return q.answerOther(x, http.StatusOK, sc)
}

// replaceScale is PUT: the body is the new Scale.
func (q *request) replaceScale() (registry.Scaling, error) {
	b, o, err := q.replacement()
	if err != nil {
		return nil, err
	}
	q.Options, q.DryRun, q.Manager = o, registry.IsDryRun(o.DryRun), q.managerOr(o.FieldManager)
	obj, err := q.other(b, q.Subresource.Kind)
	if err != nil && q.Resource.Custom {
		// Upstream looks for the kind in an empty scheme (AS handlers/rest.go:
		// transformDecodeError with AX pkg/apiserver/customresource_handler.go: newUnstructuredObjectTyper).
		return nil, status.BadRequest("no kind is registered for the type v1.Scale in scheme %q", codec.SchemeName)
	}
	if err != nil {
		return nil, err
	}
	sc := obj.(*autoscalingv1.Scale)
	if err := registry.MatchNamespace(q.Resource, sc, q.Namespace); err != nil {
		return nil, err
	}
	if err := codec.CheckManagers(sc); err != nil {
		return nil, err
	}
	return q.api.registry.ReplacedScale(&q.Operation, sc), q.CheckName(sc)
}

// patchScale is PATCH of the Scale that is shown now.
func (q *request) patchScale() (registry.Scaling, error) {
	p, err := q.patch()
	if err != nil {
		return nil, err
	}
	return q.PatchedScale(p), nil
}
