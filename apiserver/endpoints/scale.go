package endpoints

import (
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// serveScale reads and writes an object's number of replicas as a Scale (resources.Scale).
func (a *API) serveScale(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	var next registry.Scaling
	switch req.verb {
	case "get":
		sc, err := a.registry.GetScale(req.r.Context(), &req.Operation, requestinfo.Query(req.r).Get("resourceVersion"))
		if err != nil {
			return err
		}
		return req.answerOther(rendering, http.StatusOK, sc)
	case "update":
		next, err = req.replaceScale()
	default:
		next, err = req.patchScale()
	}
	if err != nil {
		return err
	}
	sc, err := a.registry.Scale(req.r.Context(), &req.Operation, next)
	if err != nil {
		return err
	}
	return req.answerOther(rendering, http.StatusOK, sc)
}

// replaceScale is PUT: the body is the new Scale.
func (req *request) replaceScale() (registry.Scaling, error) {
	body, opts, err := req.replacement()
	if err != nil {
		return nil, err
	}
	req.Options, req.DryRun, req.Manager = opts, registry.IsDryRun(opts.DryRun), req.managerOr(opts.FieldManager)
	obj, err := req.other(body, req.Subresource.Kind)
	if err != nil && req.Resource.Custom {
		// Upstream looks for the kind in an empty scheme (AS handlers/rest.go:
		// transformDecodeError with AX pkg/apiserver/customresource_handler.go: newUnstructuredObjectTyper).
		return nil, status.BadRequest("no kind is registered for the type v1.Scale in scheme %q", codec.SchemeName)
	}
	if err != nil {
		return nil, err
	}
	sc := obj.(*autoscalingv1.Scale)
	if err := registry.MatchNamespace(req.Resource, sc, req.Namespace); err != nil {
		return nil, err
	}
	if err := fieldmanager.CheckEntries(sc); err != nil {
		return nil, err
	}
	return req.api.registry.ReplacedScale(&req.Operation, sc), req.CheckName(sc)
}

// patchScale is PATCH of the Scale that is shown now.
func (req *request) patchScale() (registry.Scaling, error) {
	p, err := req.patch()
	if err != nil {
		return nil, err
	}
	return req.PatchedScale(p), nil
}
