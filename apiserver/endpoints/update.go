package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// serveUpdate handles a PUT of an object, or of a subresource that is a part of its object (B.1).
func (a *API) serveUpdate(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	body, opts, err := req.replacement()
	if err != nil {
		return err
	}
	obj, err := req.stored(body)
	if err != nil {
		return err
	}
	if err := req.MatchNamespace(obj); err != nil { // A-09 before B-02
		return err
	}
	if err := req.CheckName(obj); err != nil {
		return err
	}
	registry.DedupOwners(obj, false, req.Warn.Add)
	req.DryRun = registry.IsDryRun(opts.DryRun)
	out, created, err := a.Registry.ReplaceOrCreate(req.r.Context(), &registry.Creation{
		Request: &req.Request, Manager: req.managerOr(opts.FieldManager), Options: opts, MayCreate: req.authorizeCreate,
	}, obj)
	if err != nil {
		return err
	}
	return req.answer(rendering, codeOf(created), out)
}

// codeOf returns the code of the response to a PUT or an apply.
func codeOf(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// authorizeCreate authorizes the creation of the object by a PUT or an apply (AS pkg/endpoints/handlers/update.go:
// withAuthorization).
func (req *request) authorizeCreate() error {
	return requestinfo.Authorize(req.api.Registry.Authorizer, req.info.AttributesAs("create"))
}
