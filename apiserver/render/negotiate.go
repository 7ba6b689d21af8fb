package render

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// MediaTypes are the media types of objects. The first one is the default.
var MediaTypes = []string{codec.MediaJSON, codec.MediaYAML, codec.MediaProtobuf}

// Format is the negotiated format of a response.
type Format struct {
	Media string
	// As is the kind to which objects are converted: Table, PartialObjectMetadata or PartialObjectMetadataList. It is
	// empty for the object itself. Version is the version of meta.k8s.io.
	As, Version string
	Pretty      bool
}

// Offer has the formats in which a response is available (AS negotiation: EndpointRestrictions).
type Offer struct {
	// Binary is set if the object itself is available in protobuf. Custom resources are not.
	Binary bool
	// Converted is set if it is available as a Table and as metadata. Errors are not.
	Converted bool
}

// forms are MediaTypes in the type of the library. YAML has no framing.
var forms = []runtime.SerializerInfo{
	{MediaType: codec.MediaJSON, MediaTypeType: "application", MediaTypeSubType: "json",
		StreamSerializer: &runtime.StreamSerializerInfo{}},
	{MediaType: codec.MediaYAML, MediaTypeType: "application", MediaTypeSubType: "yaml"},
	{MediaType: codec.MediaProtobuf, MediaTypeType: "application", MediaTypeSubType: protobufType,
		StreamSerializer: &runtime.StreamSerializerInfo{}},
}

const protobufType = "vnd.kubernetes.protobuf"

// Negotiate selects the format by the first clause of Accept that can be served, in the order of q-values (0-16).
func (o Offer) Negotiate(r *http.Request, query url.Values) (Format, error) {
	m, ok := negotiation.NegotiateMediaTypeOptions(r.Header.Get("Accept"), forms, o)
	if !ok {
		return Format{}, negotiation.NewNotAcceptableError(MediaTypes)
	}
	f := Format{Media: m.Accepted.MediaType}
	f.Pretty = f.Media == codec.MediaJSON && (m.Pretty || wantsPretty(r, query))
	if m.Convert != nil {
		f.As, f.Version = m.Convert.Kind, m.Convert.Version
	}
	return f, nil
}

// AllowsMediaTypeTransform implements negotiation.EndpointRestrictions (AS handlers/rest.go).
func (o Offer) AllowsMediaTypeTransform(_, subType string, to *schema.GroupVersionKind) bool {
	if to == nil {
		return o.Binary || subType != protobufType
	}
	if !o.Converted || to.Group != metav1.GroupName || (to.Version != "v1" && to.Version != "v1beta1") {
		return false
	}
	switch to.Kind {
	case "Table": // it has no protobuf format
		return subType != protobufType
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return true
	}
	return false
}

// AllowsServerVersion implements negotiation.EndpointRestrictions.
func (o Offer) AllowsServerVersion(version string) bool {
	return o.Converted && version == metav1.SchemeGroupVersion.Version
}

// AllowsStreamSchema implements negotiation.EndpointRestrictions.
func (o Offer) AllowsStreamSchema(name string) bool { return name == "watch" }

// routeAccepts implements the router's check of Accept, which precedes the handler's. The router supports no q-values,
// and no wildcards except */* (go-restful Route.matchesAccept).
func routeAccepts(header string, produces []string) bool {
	if header == "" {
		return true
	}
	return slices.ContainsFunc(routeTypes(header), func(media string) bool {
		return media == "*/*" || slices.Contains(produces, media)
	})
}

// routeTypes returns the media types of a header as the router parses it: without parameters, case-sensitive.
func routeTypes(header string) []string {
	types := strings.Split(header, ",")
	for i, t := range types {
		t, _, _ = strings.Cut(t, ";")
		types[i] = strings.Trim(t, " ")
	}
	return types
}

// Routable implements the router's check of a request's media types, first of Content-Type. Custom resources have no
// such check (0-16, B-50).
func Routable(r *http.Request, res *resources.Resource, verb string) error {
	if res.Custom {
		return nil
	}
	if verb == "patch" && !slices.ContainsFunc(routeTypes(r.Header.Get("Content-Type")), func(media string) bool {
		return slices.Contains(codec.PatchTypes(res), media)
	}) {
		return status.ErrPatchMedia
	}
	produces := MediaTypes
	if verb == "list" || verb == "watch" {
		produces = append(slices.Clip(produces), Streamed(true)...)
	}
	if !routeAccepts(r.Header.Get("Accept"), produces) {
		return errNotRoutable(produces)
	}
	return nil
}

func errNotRoutable(produces []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "406: Not Acceptable\n\nAvailable representations: " + strings.Join(produces, ", "),
		Details: &metav1.StatusDetails{},
	}}
}

// wantsPretty reports whether JSON is indented: by the parameter pretty, otherwise for browsers, curl and wget (AS
// responsewriters: isPrettyPrint).
func wantsPretty(r *http.Request, query url.Values) bool {
	if p := query.Get("pretty"); p != "" {
		b, _ := strconv.ParseBool(p)
		return b
	}
	agent := r.UserAgent()
	return slices.ContainsFunc([]string{"curl", "Wget", "Mozilla/5.0"}, func(prefix string) bool {
		return strings.HasPrefix(agent, prefix)
	})
}

func notAcceptableText(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: text}}
}

func accepted(binary bool) []string {
	if binary {
		return MediaTypes
	}
	return MediaTypes[:2]
}

// Streamed returns the media types of watches, for error messages.
func Streamed(binary bool) []string {
	if binary {
		return []string{codec.MediaJSON + ";stream=watch", codec.MediaProtobuf + ";stream=watch"}
	}
	return []string{codec.MediaJSON + ";stream=watch"}
}

// ContentType returns the media type of the request's body, which is JSON without the header (0-16).
func ContentType(r *http.Request, binary bool) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return codec.MediaJSON, nil
	}
	media, _, err := mime.ParseMediaType(header)
	if err != nil || !slices.Contains(accepted(binary), media) {
		return "", negotiation.NewUnsupportedMediaTypeError(accepted(binary))
	}
	return media, nil
}
