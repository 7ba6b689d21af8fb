package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
)

const aggregatedParameters = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// encodings are JSON, YAML and protobuf. They need no scheme, because the kind of every document is set.
var encodings = serializer.NewCodecFactory(runtime.NewScheme())

// onlyAggregated restricts a negotiation to the aggregated document (AS
// pkg/endpoints/discovery/aggregated/negotiation.go).
type onlyAggregated struct {
	negotiation.EndpointRestrictions
}

func (onlyAggregated) AllowsMediaTypeTransform(_, _ string, to *schema.GroupVersionKind) bool {
	return to != nil && *to == apidiscoveryv2.SchemeGroupVersion.WithKind("APIGroupDiscoveryList")
}

// document is an object with its encodings in the formats that were requested.
type document struct {
	object runtime.Object
	// etag is the quoted ETag of an aggregated document. It is empty for other documents.
	etag    string
	encoded sync.Map // runtime.Serializer -> func() ([]byte, error)
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
	if p.aggregated != nil {
		only := onlyAggregated{negotiation.DefaultEndpointRestrictions}
		// Without Accept, the negotiation ignores restrictions.
		if m, f, err := negotiation.NegotiateOutputMediaType(r, encodings, only); err == nil && m.Convert != nil {
			p.aggregated.serve(w, r, f)
			return
		}
	}
	_, f, err := negotiation.NegotiateOutputMediaType(r, encodings, negotiation.DefaultEndpointRestrictions)
	if err != nil {
		sendNotAcceptable(w, err.(apierrors.APIStatus).Status())
		return
	}
	p.plain.serve(w, r, f)
}

func (d *document) serve(w http.ResponseWriter, r *http.Request, f runtime.SerializerInfo) {
	contentType := f.MediaType
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
	data, err := d.bytes(f.Serializer)
	if err != nil {
		http.Error(w, fmt.Sprintf("encoding discovery: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	w.Write(data)
}

// bytes returns the document in an encoding. Callers must not change it.
func (d *document) bytes(by runtime.Serializer) ([]byte, error) {
	once, _ := d.encoded.LoadOrStore(by, sync.OnceValues(func() ([]byte, error) { return runtime.Encode(by, d.object) }))
	return once.(func() ([]byte, error))()
}

// sendNotAcceptable sends the error for a client that accepts none of the formats (0-16).
func sendNotAcceptable(w http.ResponseWriter, status metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	data, err := json.MarshalIndent(status, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("discovery: strings can't be encoded: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotAcceptable)
	w.Write(data)
}
