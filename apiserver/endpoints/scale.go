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

// serveScale handles the requests for a Scale, which read or write an object's number of replicas (resources.Scale).
func (a *API) serveScale(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	change := &registry.Change{Request: &req.Request}
	var next registry.Scaling
	switch req.verb {
	case "get":
		sc, err := a.Registry.GetScale(req.r.Context(), req.Target, requestinfo.Query(req.r).Get("resourceVersion"))
		if err != nil {
			return err
		}
		return req.answerOtherKind(rendering, http.StatusOK, sc)
	case "update":
		next, err = req.replaceScale(change)
	default:
		var p codec.Patch
		p, change.Options, err = req.patch()
		next = req.PatchedScale(p)
	}
	if err != nil {
		return err
	}
	sc, err := a.Registry.Scale(req.r.Context(), change, next)
	if err != nil {
		return err
	}
	return req.answerOtherKind(rendering, http.StatusOK, sc)
}

// replaceScale returns the Scaling of a PUT, whose body is the new Scale. It sets the options of the change.
func (req *request) replaceScale(change *registry.Change) (registry.Scaling, error) {
	body, opts, err := req.replacement()
	if err != nil {
		return nil, err
	}
	change.Options, req.DryRun = opts, registry.IsDryRun(opts.DryRun)
	obj, err := req.decodeOtherKind(body, req.Subresource.Kind)
	if err != nil && req.Resource.Custom {
		// Upstream looks up the kind in an empty scheme (AS handlers/rest.go: transformDecodeError with AX
		// pkg/apiserver/customresource_handler.go: newUnstructuredObjectTyper).
		return nil, status.BadRequest("no kind is registered for the type v1.Scale in scheme %q", codec.SchemeName)
	}
	if err != nil {
		return nil, err
	}
	sc := obj.(*autoscalingv1.Scale)
	if err := req.MatchNamespace(sc); err != nil {
		return nil, err
	}
	if err := fieldmanager.CheckEntries(sc); err != nil {
		return nil, err
	}
	return req.api.Registry.ReplacedScale(&req.Request, sc, req.managerOr(opts.FieldManager)), req.CheckName(sc)
}
