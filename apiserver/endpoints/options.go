package endpoints

import (
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metainternalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

func createOptions(query url.Values) (*metav1.CreateOptions, error) {
	opts := &metav1.CreateOptions{}
	if err := requestinfo.DecodeQuery(query, opts); err != nil {
		return nil, err
	}
	return opts, invalid.Options("CreateOptions", metav1validation.ValidateCreateOptions(opts))
}

func updateOptions(query url.Values) (*metav1.UpdateOptions, error) {
	opts := &metav1.UpdateOptions{}
	if err := requestinfo.DecodeQuery(query, opts); err != nil {
		return nil, err
	}
	return opts, invalid.Options("UpdateOptions", metav1validation.ValidateUpdateOptions(opts))
}

// listOptions reads and checks the options of a list or watch (H-01, H-02), and sets the defaults of a watch (H-26).
func listOptions(query url.Values) (*metainternal.ListOptions, error) {
	opts := &metainternal.ListOptions{}
	if err := requestinfo.DecodeQuery(query, opts); err != nil {
		return nil, err
	}
	metainternal.SetListOptionsDefaults(opts, true)
	return opts, invalid.Options("ListOptions", metainternalvalidation.ValidateListOptions(opts, true))
}

// deleteOptions reads them from the body, or from the query if there is none (C-02).
func (req *request) deleteOptions() (opts *metav1.DeleteOptions, err error) {
	if len(req.body) == 0 {
		opts = &metav1.DeleteOptions{}
		err = requestinfo.DecodeQuery(requestinfo.Query(req.r), opts)
	} else {
		var media string
		if media, err = render.ContentType(req.r, true); err == nil {
			opts, err = decodeDeleteOptions(req.body, media)
		}
	}
	if err != nil {
		return nil, err
	}
	if !req.api.malformed { // C-01
		opts.IgnoreStoreReadErrorWithClusterBreakingPotential = nil
	}
	return opts, invalid.Options("DeleteOptions", metav1validation.ValidateDeleteOptions(opts))
}

// decodeDeleteOptions decodes them with the serializers of meta's own scheme, as upstream does: of any group and
// version, with unknown fields ignored, but not of another kind (C-04).
func decodeDeleteOptions(data []byte, media string) (*metav1.DeleteOptions, error) {
	if err := codec.CheckCost(codec.Body{Bytes: data, Media: media}); apierrors.IsRequestEntityTooLargeError(err) {
		return nil, err
	} else if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	info, ok := runtime.SerializerInfoForMediaType(metascheme.Codecs.SupportedMediaTypes(), media)
	if !ok {
		return nil, render.UnsupportedMedia(render.MediaTypes)
	}
	opts := &metav1.DeleteOptions{}
	want := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
	obj, got, err := metascheme.Codecs.DecoderToVersion(info.Serializer, want.GroupVersion()).Decode(data, &want, opts)
	switch {
	case runtime.IsNotRegisteredError(err) && got != nil:
		return nil, status.BadRequest("%s", codec.NotRegistered(*got))
	case err != nil:
		return nil, status.BadRequest("%v", err)
	case obj != opts:
		return nil, status.BadRequest("decoded object cannot be converted to DeleteOptions")
	}
	return opts, nil
}
