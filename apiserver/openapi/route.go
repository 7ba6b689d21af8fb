package openapi

import (
	"strings"
	"unicode"

	"github.com/emicklei/go-restful/v3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/common/restfuladapter"
)

// route is one operation, for kube-openapi's builders (common.Route).
type route struct {
	restfuladapter.RouteAdapter
	// tag is the same for all operations of a group version.
	tag string
}

func newRoute(r *restful.Route, tag string) *route {
	r.ResponseErrors = map[int]restful.ResponseError{}
	return &route{restfuladapter.RouteAdapter{Route: r}, tag}
}

var statusTexts = map[int]string{200: "OK", 201: "Created", 202: "Accepted"}

// answer adds a status code, with the schema of the response's body.
func (r *route) answer(code int, m model) *route {
	r.Route.ResponseErrors[code] = restful.ResponseError{Code: code, Message: statusTexts[code], Model: m}
	return r
}

// read sets the schema of the request's body.
func (r *route) read(m model, required bool) *route {
	r.Route.ReadSample = m
	return r.query(restful.BodyParameter("body", "").Required(required))
}

// query adds parameters.
func (r *route) query(parameters ...*restful.Parameter) *route {
	r.Route.ParameterDocs = append(r.Route.ParameterDocs, parameters...)
	return r
}

// model is the name of a schema, or of a simple type ("string").
type model string

// OpenAPICanonicalTypeName returns the name to kube-openapi's builders.
func (m model) OpenAPICanonicalTypeName() string { return string(m) }

// routes are the operations of a document (common.RouteContainer).
type routes []common.Route

func (r routes) RootPath() string                   { return "/" }
func (r routes) PathParameters() []common.Parameter { return nil }
func (r routes) Routes() []common.Route             { return r }

// identify returns an operation's ID and tags to kube-openapi's builders.
func identify(r common.Route) (string, []string, error) {
	own := r.(*route)
	return own.OperationName(), []string{own.tag}, nil
}

// camel removes characters that are invalid in an operation ID, and capitalizes the characters after them (AS
// pkg/endpoints/openapi/openapi.go:ToValidOperationID).
func camel(s string, capitalize bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.IsDigit(r)):
			capitalize = true
		case capitalize:
			b.WriteRune(unicode.ToUpper(r))
			capitalize = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// scope is the part of IDs and tags that operations share: the group and the version, each possibly empty.
type scope struct{ group, version string }

func (s scope) groupName() string {
	if s.group == "" {
		return "core"
	}
	return strings.TrimSuffix(s.group, ".k8s.io")
}

// id returns an operation's ID: the verb, the group, the version and the rest of the name.
func (s scope) id(verb, rest string) string {
	return verb + camel(s.groupName(), true) + camel(s.version, true) + rest
}

func (s scope) tag() string {
	tag := camel(s.groupName(), false)
	if s.version != "" {
		tag += "_" + camel(s.version, false)
	}
	return tag
}
