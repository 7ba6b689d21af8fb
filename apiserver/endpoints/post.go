package endpoints

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// servePost is POST of a resource that is not stored, or of a subresource (resources.ByHook), which a hook of its kind
// handles.
func (a *API) servePost(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	body, opts, err := req.creation()
	if err != nil {
		return err
	}
	kind := req.Resource.GroupVersionKind()
	if req.Subresource != nil {
		kind = req.Subresource.Kind
	}
	obj, err := req.other(body, kind)
	if err != nil {
		return err
	}
	out, err := a.Registry.Post(req.r.Context(), &req.Request, obj, opts)
	if err != nil {
		return err
	}
	if out == nil {
		out = &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status: metav1.StatusSuccess, Code: http.StatusCreated}
	}
	return req.answerOther(rendering, http.StatusCreated, out)
}
