package apiserver

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The media types that are read and written, in the order of preference.
const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

var mediaTypes = []string{mediaJSON, mediaYAML, mediaProtobuf}

// format is what a client accepts.
type format struct {
	media string
	// as is the kind that objects are transformed into: Table, PartialObjectMetadata,
	// PartialObjectMetadataList; empty for the object itself. version is meta.k8s.io's.
	as, version string
	pretty      bool
}

// negotiate picks the format for the first clause of Accept that can be served, by q-value
// (AS pkg/endpoints/handlers/negotiation/negotiate.go). binary says that the resource has a
// protobuf form; custom resources have none.
func negotiate(r *http.Request, binary bool) (format, error) {
	header := r.Header.Get("Accept")
	if header == "" {
		return format{media: mediaJSON, pretty: wantsPretty(r)}, nil
	}
	known := !binary
	for _, c := range goautoneg.ParseAccept(header) {
		for _, m := range mediaTypes {
			if m == mediaProtobuf && !binary || !matches(c, m) {
				continue
			}
			known = true
			if f, ok := transformed(c.Params, m); ok {
				f.pretty = (f.pretty || wantsPretty(r)) && m == mediaJSON
				return f, nil
			}
		}
	}
	return format{}, notAcceptable(known, accepted(binary))
}

func matches(c goautoneg.Accept, media string) bool {
	typ, sub, _ := strings.Cut(media, "/")
	return c.Type == "*" && c.SubType == "*" || c.Type == typ && (c.SubType == sub || c.SubType == "*")
}

// transformed reads the parameters of one clause; ok is false if it asks for what isn't served.
func transformed(params map[string]string, media string) (f format, ok bool) {
	f.media = media
	group := ""
	for k, v := range params {
		switch k {
		case "as":
			f.as = v
		case "g":
			group = v
		case "v":
			f.version = v
		case "pretty":
			f.pretty = v == "1"
		}
	}
	if f.as == "" {
		f.version = ""
		return f, true
	}
	if group != metav1.GroupName || (f.version != "v1" && f.version != "v1beta1") {
		return f, false
	}
	switch f.as {
	case "Table": // it has no protobuf form (AS handlers/rest.go: AllowsMediaTypeTransform)
		return f, media != mediaProtobuf
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return f, true
	}
	return f, false
}

// wantsPretty reports whether JSON is indented: ?pretty=, else for the browsers and tools that
// people read with (AS responsewriters: isPrettyPrint).
func wantsPretty(r *http.Request) bool {
	if p := r.URL.Query().Get("pretty"); p != "" {
		b, _ := strconv.ParseBool(p)
		return b
	}
	agent := r.UserAgent()
	for _, prefix := range []string{"curl", "Wget", "Mozilla/5.0"} {
		if strings.HasPrefix(agent, prefix) {
			return true
		}
	}
	return false
}

// notAcceptable is worded by the router if no media type of the header is known, and by the
// handler if one is but not in the form that is asked for; custom resources have no router (0-16).
func notAcceptable(known bool, types []string) error {
	list := strings.Join(types, ", ")
	st := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: " + list}
	if !known {
		st.Message, st.Details = "406: Not Acceptable\n\nAvailable representations: "+list, &metav1.StatusDetails{}
	}
	return &apierrors.StatusError{ErrStatus: st}
}

func unsupportedMedia(list []string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(list, ", "),
	}}
}

func accepted(binary bool) []string {
	if binary {
		return mediaTypes
	}
	return mediaTypes[:2]
}

// streamed are the media types of watches, as messages call them.
func streamed(binary bool) []string {
	if binary {
		return []string{mediaJSON + ";stream=watch", mediaProtobuf + ";stream=watch"}
	}
	return []string{mediaJSON + ";stream=watch"}
}

// contentType returns the media type of the request's body; none means JSON (0-16).
func contentType(r *http.Request, binary bool) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return mediaJSON, nil
	}
	media, _, _ := strings.Cut(header, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	for _, m := range accepted(binary) {
		if m == media {
			return m, nil
		}
	}
	return "", unsupportedMedia(accepted(binary))
}
