package audit

import (
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/audit"
)

// Object records the decoded body of a request. Fields of the event that the URL does not have are those of obj's
// metadata (N-22). encode returns the JSON of obj (N-23). It is called only if the audit log records the body.
func (r *Record) Object(obj runtime.Object, encode func() ([]byte, error)) {
	if r == nil {
		return
	}
	once := jsonOf{func() ([]byte, error) {
		if !r.Requests() {
			return nil, nil
		}
		data, err := encode()
		return r.shown(data), err
	}}
	audit.LogRequestObject(r.ctx, obj, schema.GroupVersion{}, schema.GroupVersionResource{}, "", once)
}

// Patch records a patch in JSON. A patch that is not JSON is recorded as a string. Upstream loses the event (O-09).
func (r *Record) Patch(data []byte) {
	if !r.Requests() {
		return
	}
	if !json.Valid(data) {
		r.MalformedPatch(data)
		return
	}
	r.event.LogRequestPatch(data)
}

// MalformedPatch records a patch as a string.
func (r *Record) MalformedPatch(data []byte) {
	if !r.Requests() {
		return
	}
	if quoted, err := json.Marshal(string(data)); err == nil { // every string can be encoded
		r.event.LogRequestPatch(quoted)
	}
}

// Status records a response that is a Status.
func (r *Record) Status(st *metav1.Status) {
	if r == nil {
		return
	}
	var shown *runtime.Unknown
	if data, err := json.Marshal(st); err == nil && r.Responses() {
		shown = unknown(data)
	}
	r.event.LogResponseObject(st, shown)
}

// Response records the JSON of a response that is not a Status.
func (r *Record) Response(data []byte) {
	if r.Responses() {
		r.event.LogResponseObject(nil, unknown(r.shown(data)))
	}
}

func unknown(data []byte) *runtime.Unknown {
	return &runtime.Unknown{Raw: data, ContentType: runtime.ContentTypeJSON}
}

// shown returns the JSON without the fields that the policy's rule omits.
func (r *Record) shown(data []byte) []byte {
	if !r.rule.OmitManagedFields {
		return data
	}
	return withoutManagedFields(data)
}

// jsonOf passes the JSON of an object to LogRequestObject.
type jsonOf struct{ encode func() ([]byte, error) }

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s jsonOf) SupportedMediaTypes() []runtime.SerializerInfo {
	return []runtime.SerializerInfo{{MediaType: runtime.ContentTypeJSON}}
}

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (s jsonOf) EncoderForVersion(runtime.Encoder, runtime.GroupVersioner) runtime.Encoder {
	return s
}

// DecoderToVersion implements runtime.NegotiatedSerializer. It is not called.
func (s jsonOf) DecoderToVersion(runtime.Decoder, runtime.GroupVersioner) runtime.Decoder {
	return nil
}

// Encode implements runtime.Encoder.
func (s jsonOf) Encode(_ runtime.Object, w io.Writer) error {
	data, err := s.encode()
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// Identifier implements runtime.Encoder.
func (s jsonOf) Identifier() runtime.Identifier { return "audit" }
