package endpoints

import (
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/patch"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/respond"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// request is an HTTP request of a resource that exists.
type request struct {
	registry.Operation
	verb string
	w    http.ResponseWriter
	r    *http.Request
	api  *API
	info *requestinfo.Info
	// held is the body that was read; nil for none.
	held *pool.Holding
	// begun is called by a watch that has sent its initial events.
	begun  func()
	memory inflight.Memory
	// rest is what remains to be done once the request holds so many bytes of memory (see afford).
	rest  func() error
	wants int64
	// without answers a request whose work is done if it never gets that memory; nil for others.
	without func() error
}

// managerOr is the field manager: the one that the options name, else the client.
func (q *request) managerOr(name string) string { return fieldmanager.Manager(name, q.r.UserAgent()) }

// rendering negotiates the form of the answer.
func (q *request) rendering() (*render.Rendering, error) {
	f, err := render.Offer{Binary: !q.Resource.Custom, Converted: true}.Negotiate(q.r, exchange.Query(q.r))
	if err != nil {
		return nil, err
	}
	x := &render.Rendering{
		Resource: q.Resource, Format: f, Now: q.api.now(),
		Skip: func(o *storage.Object, err error) { q.api.registry.Unreadable(o.Key, err, "omitted from a list") },
	}
	if f.As == "Table" {
		x.Include = exchange.Query(q.r).Get("includeObject")
		switch metav1.IncludeObjectPolicy(x.Include) {
		case "", metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject:
		default:
			return nil, status.BadRequest(
				"Unable to convert to Table as requested: includeObject: Invalid value: %q: must be 'Metadata', 'Object', 'None', or empty",
				x.Include,
			)
		}
	}
	return x, nil
}

// answer sends an object of the resource.
func (q *request) answer(x *render.Rendering, code int, o *storage.Object) error {
	if x.Format.As == "PartialObjectMetadataList" {
		return x.NoList()
	}
	data, err := x.Object(o)
	if err != nil {
		return err
	}
	q.recordAnswer(x, func(x *render.Rendering) ([]byte, error) { return x.Object(o) })
	q.send(x.Format, code, render.Indent(x.Newline(data), x.Format.Pretty))
	return nil
}

// answerOther sends an object of another kind (Scale, Status, TokenRequest).
func (q *request) answerOther(x *render.Rendering, code int, obj runtime.Object) error {
	shown, err := x.Other(obj)
	if err != nil {
		return err
	}
	data, err := x.Encode(shown)
	if err != nil {
		return err
	}
	q.recordAnswerOther(shown)
	q.send(x.Format, code, render.Indent(x.Newline(data), x.Format.Pretty))
	return nil
}

func (q *request) send(f render.Format, code int, data []byte) {
	h := q.w.Header()
	respond.Warnings(h, q.Warn)
	h.Set("Content-Type", f.Media)
	respond.Body(q.w, q.r, code, data)
}

// mediaServed reports whether the body's media type is supported, for verbs that check it before they read the body. A
// client that sends Expect: 100-continue then gets the error without sending the body.
func (q *request) mediaServed() bool {
	switch q.verb {
	case "create":
		_, err := render.ContentType(q.r, !q.Resource.Custom)
		return err == nil
	case "patch":
		return slices.Contains(patch.Types(q.Resource), patchMedia(q.r))
	}
	return true
}

// creation reads the body and the options of a POST, in the order that decides which of two errors is answered.
func (q *request) creation() (codec.Body, *metav1.CreateOptions, error) {
	media, err := render.ContentType(q.r, !q.Resource.Custom)
	if err != nil {
		return codec.Body{}, nil, err
	}
	data, err := exchange.ReadBody(q.r)
	if err != nil {
		return codec.Body{}, nil, err
	}
	o, err := createOptions(exchange.Query(q.r))
	if err != nil {
		return codec.Body{}, nil, err
	}
	return codec.NewBody(data, media, o.FieldValidation), o, nil
}

// replacement is creation for a PUT, where the options come before the media type (AS handlers/update.go).
func (q *request) replacement() (codec.Body, *metav1.UpdateOptions, error) {
	data, err := exchange.ReadBody(q.r)
	if err != nil {
		return codec.Body{}, nil, err
	}
	o, err := updateOptions(exchange.Query(q.r))
	if err != nil {
		return codec.Body{}, nil, err
	}
	media, err := render.ContentType(q.r, !q.Resource.Custom)
	return codec.NewBody(data, media, o.FieldValidation), o, err
}

// stored decodes an object of the resource, in its stored version.
func (q *request) stored(b codec.Body) (registry.Object, error) {
	obj, err := codec.Decode(b, q.Resource.GroupVersionKind(), q.Resource.Coerce, q.Warn.Add)
	if err != nil {
		return nil, err
	}
	stored, err := q.ToStored(obj)
	if err == nil {
		q.recordObject(obj, stored)
	}
	return stored, err
}

// other decodes an object of another kind than the resource's (Scale, Eviction ...).
func (q *request) other(b codec.Body, kind schema.GroupVersionKind) (runtime.Object, error) {
	obj, err := codec.Decode(b, kind, nil, q.Warn.Add)
	if err == nil {
		q.recordOther(obj)
	}
	return obj, err
}
