package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// serveCreate is POST on a collection.
func (a *API) serveCreate(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	b, o, err := q.creation()
	if err != nil {
		return err
	}
	if q.Resource.Virtual {
		return a.post(q, x, b, o)
	}
	obj, err := q.stored(b)
	if err != nil {
		return err
	}
	q.Options, q.DryRun, q.Manager = o, registry.IsDryRun(o.DryRun), q.managerOr(o.FieldManager)
	out, err := a.registry.Create(q.r.Context(), &q.Operation, obj)
	if err != nil {
		return err
	}
	return q.answer(x, http.StatusCreated, out)
}
