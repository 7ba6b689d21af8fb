package endpoints

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/patch"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/storage"
)

// serveApply is PATCH with an apply document: it merges the document into the object by the owners of fields, or
// creates the object (B-51, B-60, B-61).
func (a *API) serveApply(req *request, rendering *render.Rendering, p patch.Patch) error {
	req.Tracked, req.MayCreate = true, req.authorizeCreate
	code := http.StatusOK
	out, err := a.registry.Update(req.r.Context(), &req.Operation, func(old registry.Object) (registry.Object, error) {
		return a.registry.Applied(&req.Operation, old, p)
	})
	if apierrors.IsNotFound(err) && req.Subresource == nil { // B-04
		code = http.StatusCreated
		if out, err = a.createByApply(req, p); apierrors.IsAlreadyExists(err) {
			// Another client has created it meanwhile: it is an update after all.
			code = http.StatusOK
			out, err = a.registry.Update(req.r.Context(), &req.Operation, func(old registry.Object) (registry.Object, error) {
				return a.registry.Applied(&req.Operation, old, p)
			})
		}
	}
	if err != nil {
		return err
	}
	return req.answer(rendering, code, out)
}

// createByApply creates an object that does not exist. What a client may not set in a new object is discarded as for
// POST (J-02). A uid is a conflict: it names another object (B-58).
func (a *API) createByApply(req *request, p patch.Patch) (*storage.Object, error) {
	obj, err := a.registry.Applied(&req.Operation, nil, p)
	if err != nil {
		return nil, err
	}
	if uid := obj.GetUID(); uid != "" {
		return nil, req.Conflict(
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid),
		)
	}
	if err := registry.IgnoreRevision(obj); err != nil {
		return nil, err
	}
	return a.registry.Create(req.r.Context(), &req.Operation, obj)
}
