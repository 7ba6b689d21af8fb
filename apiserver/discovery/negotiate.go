package discovery

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
)

// format is the encoding of a document.
type format uint8

const (
	formatJSON format = iota
	formatPretty
	formatYAML
	formatProtobuf
	formats
)

// mediaTypes are in the order of preference.
var mediaTypes = []struct {
	typ, sub string
	format   format
}{
	{"application", "json", formatJSON},
	{"application", "yaml", formatYAML},
	{"application", "vnd.kubernetes.protobuf", formatProtobuf},
}

const (
	aggregatedParameters = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	notAcceptable        = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
)

func (f format) mediaType() string {
	if f == formatPretty {
		f = formatJSON
	}
	for _, m := range mediaTypes {
		if m.format == f {
			return m.typ + "/" + m.sub
		}
	}
	panic("discovery: no media type for format " + strconv.Itoa(int(f)))
}

// negotiate selects the format of the first clause of Accept with matching parameters, in the order of q-values (AS
// pkg/endpoints/handlers/negotiation/negotiate.go). Without Accept it is JSON.
func negotiate(r *http.Request, want func(params map[string]string) bool) (format, bool) {
	accept := r.Header.Get("Accept")
	if accept == "" {
		return pretty(formatJSON, r, nil), want(nil)
	}
	for _, c := range goautoneg.ParseAccept(accept) {
		for _, m := range mediaTypes {
			if matches(c, m.typ, m.sub) && want(c.Params) {
				return pretty(m.format, r, c.Params), true
			}
		}
	}
	return formatJSON, false
}

func matches(c goautoneg.Accept, typ, sub string) bool {
	return c.Type == "*" && c.SubType == "*" || c.Type == typ && (c.SubType == sub || c.SubType == "*")
}

// wantsAggregated reports whether a clause requests the aggregated document.
func wantsAggregated(params map[string]string) bool {
	return params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" && params["as"] == "APIGroupDiscoveryList"
}

// wantsPlain reports whether a clause requests no transformation.
func wantsPlain(params map[string]string) bool {
	for _, name := range []string{"g", "v", "as"} {
		if _, ok := params[name]; ok {
			return false
		}
	}
	return true
}

// pretty returns the format for indented JSON if the client requests it, or is a browser, curl or wget.
func pretty(f format, r *http.Request, params map[string]string) format {
	if f == formatJSON && (params["pretty"] == "1" || readByPeople(r)) {
		return formatPretty
	}
	return f
}

func readByPeople(r *http.Request) bool {
	if p := r.URL.Query().Get("pretty"); p != "" {
		b, _ := strconv.ParseBool(p)
		return b
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}
