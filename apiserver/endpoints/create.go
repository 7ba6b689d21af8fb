package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// serveCreate handles a POST to a collection.
func (a *API) serveCreate(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	body, opts, err := req.creation()
	if err != nil {
		return err
	}
	obj, err := req.stored(body)
	if err != nil {
		return err
	}
	req.DryRun = registry.IsDryRun(opts.DryRun)
	out, err := a.Registry.Create(req.r.Context(), &registry.Creation{
		Request: &req.Request, Manager: req.managerOr(opts.FieldManager), Options: opts,
	}, obj)
	if err != nil {
		return err
	}
	return req.answer(rendering, http.StatusCreated, out)
}
