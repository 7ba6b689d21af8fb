package discovery

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// document is an object with its encodings in the formats that were requested.
type document struct {
	object runtime.Object
	// etag is the quoted ETag of an aggregated document. It is empty for other documents.
	etag    string
	encoded [formats]struct {
		once sync.Once
		data []byte
		err  error
	}
}

func newAggregated(groups []apidiscoveryv2.APIGroupDiscovery) *document {
	list := &apidiscoveryv2.APIGroupDiscoveryList{Items: groups}
	// Like upstream's, the ETag is that of the list before its kind is set (AS
	// pkg/endpoints/discovery/aggregated/etag.go:calculateETag).
	data, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("discovery: strings can't be encoded: %v", err))
	}
	list.TypeMeta = metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: apidiscoveryv2.SchemeGroupVersion.String()}
	return &document{object: list, etag: fmt.Sprintf("\"%X\"", sha512.Sum512(data))}
}

// ServeHTTP serves GET requests.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	doc := p.plain
	f, ok := format(0), false
	if p.aggregated != nil {
		if f, ok = negotiate(r, wantsAggregated); ok {
			doc = p.aggregated
		}
	}
	if !ok {
		if f, ok = negotiate(r, wantsPlain); !ok {
			sendNotAcceptable(w)
			return
		}
	}
	doc.serve(w, r, f)
}

func (d *document) serve(w http.ResponseWriter, r *http.Request, f format) {
	contentType := f.mediaType()
	if d.etag != "" {
		h := w.Header()
		h.Set("ETag", d.etag)
		h.Set("Vary", "Accept")
		h.Set("Cache-Control", "public")
		if r.Header.Get("If-None-Match") == d.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		contentType += aggregatedParameters
	}
	data, err := d.bytes(f)
	if err != nil {
		http.Error(w, fmt.Sprintf("encoding discovery: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	w.Write(data)
}

// bytes returns the document in a format. Callers must not change it.
func (d *document) bytes(f format) ([]byte, error) {
	e := &d.encoded[f]
	e.once.Do(func() {
		var b bytes.Buffer
		e.err = serializers[f].Encode(d.object, &b)
		e.data = b.Bytes()
	})
	return e.data, e.err
}

// serializers encode objects whose kind is set, so they need no scheme.
var serializers = [formats]runtime.Encoder{
	formatJSON:     jsonserializer.NewSerializerWithOptions(nil, nil, nil, jsonserializer.SerializerOptions{}),
	formatPretty:   jsonserializer.NewSerializerWithOptions(nil, nil, nil, jsonserializer.SerializerOptions{Pretty: true}),
	formatYAML:     jsonserializer.NewSerializerWithOptions(nil, nil, nil, jsonserializer.SerializerOptions{Yaml: true}),
	formatProtobuf: protobuf.NewSerializer(nil, nil),
}

// sendNotAcceptable sends the error for a client that accepts none of the formats (0-16).
func sendNotAcceptable(w http.ResponseWriter) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable, Message: notAcceptable}
	data, err := json.MarshalIndent(status, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("discovery: a constant can't be encoded: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotAcceptable)
	w.Write(data)
}
