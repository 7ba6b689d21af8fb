package endpoints

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
)

// servePost is POST of a subresource that has a hook of its kind (resources.ByHook).
func (a *API) servePost(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	body, opts, err := req.creation()
	if err != nil {
		return err
	}
	return a.post(req, rendering, body, opts)
}

// post calls the hook of the kind or of the subresource.
func (a *API) post(req *request, rendering *render.Rendering, body codec.Body, opts *metav1.CreateOptions) error {
	kind := req.Resource.GroupVersionKind()
	if req.Subresource != nil {
		kind = req.Subresource.Kind
	}
	obj, err := req.other(body, kind)
	if err != nil {
		return err
	}
	out, err := a.registry.Post(req.r.Context(), &req.Request, obj, opts)
	if err != nil {
		return err
	}
	if out == nil {
		out = &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status: metav1.StatusSuccess, Code: http.StatusCreated}
	}
	return req.answerOther(rendering, http.StatusCreated, out)
}
