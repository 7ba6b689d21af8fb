package openapi

import (
	"strings"
	"unicode"

	"k8s.io/kube-openapi/pkg/common"
)

// route is one operation, for kube-openapi's builders (common.Route).
type route struct {
	method, path, text string
	// id identifies the operation. tag is the same for all operations of a group version.
	id, tag    string
	parameters []common.Parameter
	consumes   []string
	produces   []string
	metadata   map[string]any
	// body is the name of the schema of the request's body. It is empty if there is none.
	body    model
	answers []common.StatusCodeResponse
}

func (r *route) Method() string                                   { return r.method }
func (r *route) Path() string                                     { return r.path }
func (r *route) OperationName() string                            { return r.id }
func (r *route) Parameters() []common.Parameter                   { return r.parameters }
func (r *route) Description() string                              { return r.text }
func (r *route) Consumes() []string                               { return r.consumes }
func (r *route) Produces() []string                               { return r.produces }
func (r *route) Metadata() map[string]any                         { return r.metadata }
func (r *route) ResponsePayloadSample() any                       { return nil }
func (r *route) StatusCodeResponses() []common.StatusCodeResponse { return r.answers }

func (r *route) RequestPayloadSample() any {
	if r.body == "" {
		return nil
	}
	return r.body
}

// answer adds a status code, with the schema of the response's body.
func (r *route) answer(code int, m model) *route {
	r.answers = append(r.answers, answer{code, m})
	return r
}

// read sets the schema of the request's body.
func (r *route) read(m model, required bool) *route {
	r.body = m
	r.parameters = append(r.parameters, &parameter{name: "body", kind: common.BodyParameterKind, required: required})
	return r
}

// query adds parameters.
func (r *route) query(parameters ...common.Parameter) *route {
	r.parameters = append(r.parameters, parameters...)
	return r
}

// model is the name of a schema, or of a simple type ("string").
type model string

// OpenAPICanonicalTypeName returns the name to kube-openapi's builders.
func (m model) OpenAPICanonicalTypeName() string { return string(m) }

type answer struct {
	code  int
	model model
}

var statusTexts = map[int]string{200: "OK", 201: "Created", 202: "Accepted"}

func (a answer) Code() int       { return a.code }
func (a answer) Message() string { return statusTexts[a.code] }
func (a answer) Model() any      { return a.model }

type parameter struct {
	name, text, typ string
	kind            common.ParameterKind
	required        bool
}

func (p *parameter) Name() string               { return p.name }
func (p *parameter) Description() string        { return p.text }
func (p *parameter) Required() bool             { return p.required }
func (p *parameter) Kind() common.ParameterKind { return p.kind }
func (p *parameter) DataType() string           { return p.typ }
func (p *parameter) AllowMultiple() bool        { return false }

// routes are the operations below one path (common.RouteContainer).
type routes struct {
	root string
	list []common.Route
}

func (r *routes) RootPath() string                   { return r.root }
func (r *routes) PathParameters() []common.Parameter { return nil }
func (r *routes) Routes() []common.Route             { return r.list }

// identify returns an operation's ID and tags to kube-openapi's builders.
func identify(r common.Route) (string, []string, error) {
	own := r.(*route)
	return own.id, []string{own.tag}, nil
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
