package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// serveUpdate is PUT on an object or on a subresource that is a part of it (B.1).
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
	if err := registry.MatchNamespace(req.Resource, obj, req.Namespace); err != nil { // A-09 before B-02
		return err
	}
	if err := req.CheckName(obj); err != nil {
		return err
	}
	registry.DedupOwners(obj, false, req.Warn.Add)
	req.Options = opts
	req.DryRun, req.Manager, req.MayCreate = registry.IsDryRun(opts.DryRun), req.managerOr(
		opts.FieldManager,
	), req.authorizeCreate
	out, created, err := a.registry.ReplaceOrCreate(req.r.Context(), &req.Operation, obj)
	if err != nil {
		return err
	}
	if created {
		return req.answer(rendering, http.StatusCreated, out)
	}
	return req.answer(rendering, http.StatusOK, out)
}

// authorizeCreate authorizes a request for another verb that turns out to create the object
// (AS pkg/endpoints/handlers/update.go: withAuthorization).
func (req *request) authorizeCreate() error {
	return requestinfo.Authorize(req.api.registry.Authorizer, req.info.AttributesAs("create"))
}
