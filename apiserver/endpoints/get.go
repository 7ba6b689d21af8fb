package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// serveGet is GET of one object (H-20).
func (a *API) serveGet(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	if q.Resource.Virtual {
		o, err := a.registry.GetVirtual(q.r.Context(), &q.Operation)
		if err != nil {
			return err
		}
		return q.answer(x, http.StatusOK, o)
	}
	query := exchange.Query(q.r)
	if query.Has("export") { // B-76
		return status.BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	o, err := a.registry.Find(q.r.Context(), &q.Operation, query.Get("resourceVersion"))
	if err != nil {
		return err
	}
	if q.Resource.Custom {
		err = x.Unreadable(o)
	} else {
		err = a.registry.Readable(q.Resource, o)
	}
	if err != nil {
		return a.registry.ReadError(o.Key, err)
	}
	return q.afford(q.getCost(x, o), func() error { return q.answer(x, http.StatusOK, o) })
}

// getCost is the memory of an answer with one object.
func (q *request) getCost(x *render.Rendering, o *storage.Object) int64 {
	objs := []*storage.Object{o}
	return x.Cost(q.r, objs) + q.recordCost(x, objs)
}
