package endpoints

import (
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// serveGet handles a GET of one object (H-20).
func (a *API) serveGet(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	if req.Resource.Virtual {
		obj, err := a.Registry.GetVirtual(req.r.Context(), req.Target)
		if err != nil {
			return err
		}
		return req.answer(rendering, http.StatusOK, obj)
	}
	query := requestinfo.Query(req.r)
	if query.Has("export") { // B-76
		return status.BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	obj, err := a.Registry.Find(req.r.Context(), req.Target, query.Get("resourceVersion"))
	if err != nil {
		return err
	}
	if req.Resource.Custom {
		err = rendering.Unreadable(obj)
	} else {
		err = a.Registry.Readable(req.Resource, obj)
	}
	if err != nil {
		return a.Registry.ReadError(obj.Key, err)
	}
	release, err := req.reserve(rendering, obj)
	if err != nil {
		return err
	}
	defer release()
	return req.answer(rendering, http.StatusOK, obj)
}
