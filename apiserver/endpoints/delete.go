package endpoints

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// serveDelete handles a DELETE of one object (section C of docs/semantics.md).
func (a *API) serveDelete(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	opts, err := req.deleteOptions()
	if err != nil {
		return err
	}
	req.recordOptions(opts)
	req.DryRun = registry.IsDryRun(opts.DryRun)
	d := &registry.Deletion{Request: &req.Request, Options: opts}
	if ignoresReadError(opts) {
		return a.deleteMalformed(req, rendering, d)
	}
	d.WarnOfPolicy()
	out, err := a.Registry.Delete(req.r.Context(), d)
	if err != nil {
		return err
	}
	code, obj := d.Response(out)
	if obj == nil {
		return req.answerOtherKind(rendering, code, req.RemovedStatus(out.Object))
	}
	return req.answer(rendering, code, obj)
}

// ignoresReadError reports whether the options allow to delete an unreadable object.
func ignoresReadError(opts *metav1.DeleteOptions) bool {
	return opts.IgnoreStoreReadErrorWithClusterBreakingPotential != nil &&
		*opts.IgnoreStoreReadErrorWithClusterBreakingPotential
}

// deleteOptions reads the DeleteOptions from the body, or from the query if there is no body (C-02).
func (req *request) deleteOptions() (opts *metav1.DeleteOptions, err error) {
	if len(req.info.Body) == 0 {
		opts = &metav1.DeleteOptions{}
		err = requestinfo.DecodeQuery(requestinfo.Query(req.r), opts)
	} else {
		var media string
		if media, err = render.ContentType(req.r, true); err == nil {
			opts, err = decodeDeleteOptions(req.info.Body, media)
		}
	}
	if err != nil {
		return nil, err
	}
	if !req.api.DeleteMalformed { // C-01
		opts.IgnoreStoreReadErrorWithClusterBreakingPotential = nil
	}
	return opts, invalid.Options("DeleteOptions", metav1validation.ValidateDeleteOptions(opts))
}

// decodeDeleteOptions decodes DeleteOptions with the serializers of meta's own scheme, as upstream does. It accepts any
// group and version and ignores unknown fields, but rejects another kind (C-04).
func decodeDeleteOptions(data []byte, media string) (*metav1.DeleteOptions, error) {
	if _, err := codec.CheckCost(codec.Body{Bytes: data, Media: media}); apierrors.IsRequestEntityTooLargeError(err) {
		return nil, err
	} else if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	info, ok := runtime.SerializerInfoForMediaType(metascheme.Codecs.SupportedMediaTypes(), media)
	if !ok {
		return nil, negotiation.NewUnsupportedMediaTypeError(render.MediaTypes)
	}
	opts := &metav1.DeleteOptions{}
	want := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	obj, got, err := metascheme.Codecs.DecoderToVersion(info.Serializer, want.GroupVersion()).Decode(data, &want, opts)
	switch {
	case runtime.IsNotRegisteredError(err) && got != nil:
		return nil, status.BadRequest("%v", codec.NotRegistered(*got))
	case err != nil:
		return nil, status.BadRequest("%v", err)
	case obj != opts:
		return nil, status.BadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return opts, nil
}
