package endpoints

import (
	"net/http"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/faults"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
)

// request is an HTTP request for a resource that exists.
type request struct {
	registry.Request
	verb string
	w    http.ResponseWriter
	r    *http.Request
	api  *API
	info *requestinfo.Info
	// omitted are the objects that are missing from the response if it is a list.
	omitted omissions
	// shot is the injected fault, or nil. decided is the number of the newest plan at the time of the decision.
	shot    *faults.Shot
	decided int
}

// Sent implements registry.Sender.
func (req *request) Sent(registry.Target, *storage.Object) trail.Sent {
	s := trail.Sent{
		Agent: req.r.UserAgent(), Verb: req.verb, AuditID: req.w.Header().Get("Audit-Id"),
	}
	if req.shot != nil {
		s.Fault = req.shot.Where
	}
	if req.r.URL.RawQuery != "" || req.Name == "" || req.Subresource != nil {
		s.URI = requestinfo.Loggable(req.r.URL)
	}
	return s
}

// managerOr returns the field manager: the one that the options name, otherwise the user agent.
func (req *request) managerOr(name string) string {
	return fieldmanager.Manager(name, req.r.UserAgent())
}

// rendering negotiates the format of the response.
func (req *request) rendering() (*render.Rendering, error) {
	f, err := render.Offer{Binary: !req.Resource.Custom, Converted: true}.Negotiate(req.r, requestinfo.Query(req.r))
	if err != nil {
		return nil, err
	}
	rendering := &render.Rendering{
		Resource: req.Resource, Format: f, Now: req.api.Now(),
		Skip: req.skip, Cache: req.api.Registry.Cache,
	}
	if f.As == "Table" {
		rendering.Include = requestinfo.Query(req.r).Get("includeObject")
		switch metav1.IncludeObjectPolicy(rendering.Include) {
		case "", metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
		default:
			return nil, status.BadRequest(
				"Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty",
				rendering.Include,
			)
		}
	}
	return rendering, nil
}

// answer responds with an object of the resource.
func (req *request) answer(rendering *render.Rendering, code int, obj *storage.Object) error {
	if rendering.Format.As == "PartialObjectMetadataList" {
		return rendering.NoList()
	}
	data, err := rendering.Object(obj)
	if err != nil {
		return err
	}
	req.recordAnswer(rendering, func(rendering *render.Rendering) ([]byte, error) { return rendering.Object(obj) })
	req.send(rendering.Format, code, render.Indent(rendering.Newline(data), rendering.Format.Pretty))
	return nil
}

// answerOtherKind responds with an object of another kind than the resource's (Scale, Status, TokenRequest).
func (req *request) answerOtherKind(rendering *render.Rendering, code int, obj runtime.Object) error {
	shown, err := rendering.Other(obj)
	if err != nil {
		return err
	}
	data, err := rendering.Encode(shown)
	if err != nil {
		return err
	}
	req.RecordAnswer(shown)
	req.send(rendering.Format, code, render.Indent(rendering.Newline(data), rendering.Format.Pretty))
	return nil
}

func (req *request) send(format render.Format, code int, data []byte) {
	h := req.w.Header()
	render.Warnings(h, req.Warn.Sent())
	h.Set("Content-Type", format.Media)
	render.Body(req.w, req.r, code, data)
}

// options reads the options of a request from its query. name is the name of their type.
func options[O runtime.Object](query url.Values, name string, opts O, validate func(O) field.ErrorList) (O, error) {
	if err := requestinfo.DecodeQuery(query, opts); err != nil {
		return opts, err
	}
	return opts, invalid.Options(name, validate(opts))
}

// creation reads the body and the options of a POST. It checks the media type before the options.
func (req *request) creation() (codec.Body, *metav1.CreateOptions, error) {
	media, err := render.ContentType(req.r, !req.Resource.Custom)
	if err != nil {
		return codec.Body{}, nil, err
	}
	opts, err := options(requestinfo.Query(req.r), "CreateOptions", &metav1.CreateOptions{},
		metav1validation.ValidateCreateOptions)
	if err != nil {
		return codec.Body{}, nil, err
	}
	return codec.NewBody(req.info.Body, media, opts.FieldValidation), opts, nil
}

// replacement reads the body and options of a PUT. It checks the options before the media type (AS handlers/update.go).
func (req *request) replacement() (codec.Body, *metav1.UpdateOptions, error) {
	opts, err := options(requestinfo.Query(req.r), "UpdateOptions", &metav1.UpdateOptions{},
		metav1validation.ValidateUpdateOptions)
	if err != nil {
		return codec.Body{}, nil, err
	}
	media, err := render.ContentType(req.r, !req.Resource.Custom)
	return codec.NewBody(req.info.Body, media, opts.FieldValidation), opts, err
}

// stored decodes an object of the resource and converts it to its stored version.
func (req *request) stored(body codec.Body) (registry.Object, error) {
	kind := req.Resource.GroupVersionKind()
	obj, err := codec.Decode(body, kind, codec.CoercionOf(req.Resource), req.Warn.Add)
	if err != nil {
		return nil, err
	}
	stored, err := registry.ToStored(req.Resource, obj)
	if err != nil {
		return nil, codec.Unconvertible(kind, kind.Kind, err)
	}
	req.recordObject(obj, stored)
	return stored, nil
}

// decodeOtherKind decodes an object of another kind than the resource's (Scale, Eviction ...).
func (req *request) decodeOtherKind(body codec.Body, kind schema.GroupVersionKind) (runtime.Object, error) {
	obj, err := codec.Decode(body, kind, nil, req.Warn.Add)
	if err == nil {
		req.RecordOther(obj)
	}
	return obj, err
}
