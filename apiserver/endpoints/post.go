package endpoints

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// servePost handles a POST for which the kind has a hook: to a resource that is not stored, or to a subresource with
// the action resources.ByHook.
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
	obj, err := req.decodeOtherKind(body, kind)
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
	return req.answerOtherKind(rendering, http.StatusCreated, out)
}
