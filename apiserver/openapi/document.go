package openapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/emicklei/go-restful/v3"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// part is the content of one document of v3. The only document of v2 has all parts.
type part struct {
	// path is the document's name in the index: "apis/apps/v1".
	path string
	// fill adds the operations that are not about types. It may be nil.
	fill func(o *operations)
	// gv is the group version of types. builtin is true if some of them are not custom resources.
	gv      schema.GroupVersion
	builtin bool
	types   []Type
}

// parts returns the parts in the order of their paths.
func parts(types []Type) []part {
	list := []part{
		{path: "api", fill: infoPart("/api/", "getCoreAPIVersions", "core", "get available API versions",
			metav1.APIVersions{})},
		{path: "apis", fill: infoPart("/apis/", "getAPIVersions", "apis", "get available API versions",
			metav1.APIGroupList{})},
		{path: "version", fill: versionPart},
		{path: ".well-known/openid-configuration",
			fill: tokenPart("/.well-known/openid-configuration/", "getServiceAccountIssuerOpenIDConfiguration", "WellKnown",
				"get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'", "application/json")},
		{path: "openid/v1/jwks", fill: tokenPart("/openid/v1/jwks/", "getServiceAccountIssuerOpenIDKeyset", "openid",
			"get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
			"application/jwk-set+json")},
	}
	versions := map[schema.GroupVersion]*part{}
	groups := map[string]bool{"": true}
	for _, t := range types {
		gv := t.groupVersion()
		p := versions[gv]
		if p == nil {
			p = &part{path: prefix(gv)[1:], gv: gv}
			versions[gv] = p
		}
		p.types = append(p.types, t)
		if t.Custom != nil {
			continue
		}
		p.builtin, p.fill = true, resourcesPart(gv)
		// A group with only custom resources has no document, because upstream installs no route for it (AX
		// pkg/controller/openapi).
		if !groups[gv.Group] {
			groups[gv.Group] = true
			list = append(list, part{path: "apis/" + gv.Group, fill: groupPart(gv.Group)})
		}
	}
	for _, p := range versions {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b part) int { return strings.Compare(a.path, b.path) })
	return list
}

func infoPart(path, id, tag, text string, answer any) func(*operations) {
	return func(o *operations) {
		r := &restful.Route{Path: path, Operation: id, Doc: text, Consumes: mediaTypes, Produces: mediaTypes}
		o.plain(tag, r, o.model(answer))
	}
}

func groupPart(group string) func(*operations) {
	s := scope{group: group}
	text := "get information of a group"
	return infoPart("/apis/"+group+"/", s.id("get", "APIGroup"), s.tag(), text, metav1.APIGroup{})
}

func resourcesPart(gv schema.GroupVersion) func(*operations) {
	s := scope{gv.Group, gv.Version}
	text := "get available resources"
	return infoPart(prefix(gv)+"/", s.id("get", "APIResources"), s.tag(), text, metav1.APIResourceList{})
}

func versionPart(o *operations) {
	o.plain("version", &restful.Route{
		Path: "/version/", Operation: "getCodeVersion", Doc: "get the version information for this server",
		Consumes: jsonType, Produces: jsonType,
	}, o.model(version.Info{}))
}

func tokenPart(path, id, tag, text, mediaType string) func(*operations) {
	return func(o *operations) {
		o.plain(tag, &restful.Route{Path: path, Operation: id, Doc: text, Produces: []string{mediaType}}, "string")
	}
}

// plain adds a GET that is not for a resource.
func (o *operations) plain(tag string, r *restful.Route, answer model) {
	r.Method = "GET"
	o.routes = append(o.routes, newRoute(r, tag).answer(200, answer))
}

// collect returns the operations and schemas of parts.
func collect(d dialect, list ...part) *operations {
	o := &operations{definitions: newDefinitions(d), queries: newQueries()}
	for i := range list {
		p := &list[i]
		if p.fill != nil {
			p.fill(o)
		}
		o.scope = scope{p.gv.Group, p.gv.Version}
		for j := range p.types {
			o.add(&p.types[j])
		}
	}
	return o
}

func info(gitVersion string) *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: gitVersion}}
}

// buildV3 builds the document of v3 with the operations of a part.
func buildV3(gitVersion string, o *operations, k kinds) (*spec3.OpenAPI, error) {
	document, err := builder3.BuildOpenAPISpecFromRoutes([]common.RouteContainer{o.routes}, &common.OpenAPIV3Config{
		Info:            info(gitVersion),
		CommonResponses: map[int]*spec3.Response{401: {ResponseProps: spec3.ResponseProps{Description: "Unauthorized"}}},
		SecuritySchemes: spec3.SecuritySchemes{"BearerToken": {SecuritySchemeProps: spec3.SecuritySchemeProps{
			Type: "apiKey", Name: "authorization", In: "header", Description: "Bearer Token authentication",
		}}},
		Definitions:                    o.definitions.schemas,
		GetDefinitionName:              func(name string) (string, spec.Extensions) { return name, k.extensions(name) },
		GetOperationIDAndTagsFromRoute: identify,
	})
	if err != nil {
		return nil, fmt.Errorf("building a document of v3: %w", err)
	}
	return document, nil
}

// encodeV3 returns the encoded document of v3 of a part.
func encodeV3(base *builtin, p part, protobuf bool) ([]byte, error) {
	k := base.kinds.and(p.types)
	if p.builtin {
		k = k.within(p.gv)
	}
	d, err := buildV3(base.version, collect(v3, p), k)
	if err != nil {
		return nil, err
	}
	data, err := d.MarshalJSON()
	if err != nil || !protobuf {
		return data, err
	}
	message, err := openapiv3.ParseDocument(data)
	if err != nil {
		return nil, fmt.Errorf("encoding a document as protobuf: %w", err)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(message)
}

// Definitions returns the schemas of types, and of all types that they refer to, by name, as in a document of v3 that
// has only these types. The extension x-kubernetes-group-version-kind marks kinds. The caller may change the schemas.
func Definitions(types ...Type) (map[string]*spec.Schema, error) {
	var list []part
	for _, t := range types {
		list = append(list, part{gv: t.groupVersion(), types: []Type{t}})
	}
	o := collect(v3, list...)
	if len(o.errs) > 0 {
		return nil, errors.Join(o.errs...)
	}
	d, err := buildV3("", o, kindsOf(types))
	if err != nil {
		return nil, err
	}
	return d.Components.Schemas, nil
}
