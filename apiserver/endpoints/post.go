package endpoints

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
)

// servePost is POST of a subresource that has a hook of its kind (resources.ByHook).
func (a *API) servePost(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	b, o, err := q.creation()
	if err != nil {
		return err
	}
	return a.post(q, x, b, o)
}

// post calls the hook of the kind or of the subresource.
func (a *API) post(q *request, x *render.Rendering, b codec.Body, o *metav1.CreateOptions) error {
	kind := q.Resource.GroupVersionKind()
	if q.Subresource != nil {
		kind = q.Subresource.Kind
	}
	q.Options = o
	obj, err := q.other(b, kind)
	if err != nil {
		return err
	}
	out, err := a.registry.Post(q.r.Context(), &q.Operation, obj, o.DryRun)
	if err != nil {
		return err
	}
	if out == nil {
		out = &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status: metav1.StatusSuccess, Code: http.StatusCreated}
	}
	return q.answerOther(x, http.StatusCreated, out)
}
