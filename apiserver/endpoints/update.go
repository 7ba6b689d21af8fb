package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// serveUpdate is PUT on an object or on a subresource that is a part of it (B.1).
func (a *API) serveUpdate(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	b, o, err := q.replacement()
	if err != nil {
		return err
	}
	obj, err := q.stored(b)
	if err != nil {
		return err
	}
	if err := registry.MatchNamespace(q.Resource, obj, q.Namespace); err != nil { // A-09 before B-02
		return err
	}
	if err := q.CheckName(obj); err != nil {
		return err
	}
	registry.DedupOwners(obj, false, q.Warn.Add)
	q.Options = o
	q.DryRun, q.Manager, q.MayCreate = registry.IsDryRun(o.DryRun), q.managerOr(o.FieldManager), q.authorizeCreate
	out, created, err := a.registry.ReplaceOrCreate(q.r.Context(), &q.Operation, obj)
	if err != nil {
		return err
	}
	if created {
		return q.answer(x, http.StatusCreated, out)
	}
	return q.answer(x, http.StatusOK, out)
}

// authorizeCreate authorizes a request for another verb that turns out to create the object
// (AS pkg/endpoints/handlers/update.go: withAuthorization).
func (q *request) authorizeCreate() error {
	return requestinfo.Authorize(q.api.registry.Authorizer, q.info.AttributesAs("create"))
}
