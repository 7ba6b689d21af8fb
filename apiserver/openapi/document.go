package openapi

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// part is the content of one document of v3; v2 has only one document, for all parts.
type part struct {
	// path is the document's name in the index: "apis/apps/v1".
	path string
	// fill adds the part's operations.
	fill func(o *operations)
	// own is the group version if it has built-in types.
	own schema.GroupVersion
}

// parts returns the parts in the order of their paths.
func parts(types []Type) []part {
	list := []part{
		{path: "api", fill: rootPart("/api/", "getCoreAPIVersions", "core", metav1.APIVersions{})},
		{path: "apis", fill: rootPart("/apis/", "getAPIVersions", "apis", metav1.APIGroupList{})},
		{path: "version", fill: versionPart},
		{path: ".well-known/openid-configuration",
			fill: tokenPart("/.well-known/openid-configuration/", "getServiceAccountIssuerOpenIDConfiguration", "WellKnown",
				"get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'", "application/json")},
		{path: "openid/v1/jwks", fill: tokenPart("/openid/v1/jwks/", "getServiceAccountIssuerOpenIDKeyset", "openid",
			"get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
			"application/jwk-set+json")},
	}
	versions := map[schema.GroupVersion][]*Type{}
	groups := map[string]bool{"": true}
	for i := range types {
		gv := types[i].groupVersion()
		versions[gv] = append(versions[gv], &types[i])
		// A group with only custom resources has no document: upstream installs no route for it (AX
		// pkg/controller/openapi).
		if types[i].Custom == nil && !groups[gv.Group] {
			groups[gv.Group] = true
			list = append(list, part{path: "apis/" + gv.Group, fill: groupPart(gv.Group)})
		}
	}
	for gv, members := range versions {
		p := part{path: prefix(gv)[1:], fill: versionedPart(gv, members)}
		if slices.ContainsFunc(members, func(t *Type) bool { return t.Custom == nil }) {
			p.own = gv
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b part) int { return strings.Compare(a.path, b.path) })
	return list
}

func rootPart(path, id, tag string, answer any) func(*operations) {
	return func(o *operations) {
		o.plain(
			&route{path: path, id: id, tag: tag, text: "get available API versions", consumes: mediaTypes, produces: mediaTypes},
			o.model(answer),
		)
	}
}

func groupPart(group string) func(*operations) {
	return func(o *operations) {
		s := scope{group: group}
		r := &route{
			path: "/apis/" + group + "/", id: s.id("get", "APIGroup"), tag: s.tag(), text: "get information of a group",
			consumes: mediaTypes, produces: mediaTypes,
		}
		o.plain(r, o.model(metav1.APIGroup{}))
	}
}

func versionedPart(gv schema.GroupVersion, types []*Type) func(*operations) {
	return func(o *operations) {
		o.scope = scope{gv.Group, gv.Version}
		if slices.ContainsFunc(types, func(t *Type) bool { return t.Custom == nil }) {
			r := &route{
				path: prefix(gv) + "/", id: o.scope.id("get", "APIResources"), tag: o.scope.tag(), text: "get available resources",
				consumes: mediaTypes, produces: mediaTypes,
			}
			o.plain(r, o.model(metav1.APIResourceList{}))
		}
		for _, t := range types {
			o.add(t)
		}
	}
}

func versionPart(o *operations) {
	r := &route{
		path: "/version/", id: "getCodeVersion", tag: "version", text: "get the version information for this server",
		consumes: jsonType, produces: jsonType,
	}
	o.plain(r, o.model(version.Info{}))
}

func tokenPart(path, id, tag, text, mediaType string) func(*operations) {
	return func(o *operations) {
		o.plain(&route{path: path, id: id, tag: tag, text: text, produces: []string{mediaType}}, "string")
	}
}

// plain adds a GET that is not for a resource.
func (o *operations) plain(r *route, answer model) {
	r.method = "GET"
	o.routes = append(o.routes, r.answer(200, answer))
}

// collect makes the operations and schemas of parts.
func collect(d dialect, list []part) *operations {
	o := &operations{definitions: newDefinitions(d), queries: newQueries()}
	for _, p := range list {
		p.fill(o)
	}
	return o
}

func info(gitVersion string) *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: gitVersion}}
}

// buildV3 makes one document of v3.
func buildV3(gitVersion string, p part, k kinds) (*spec3.OpenAPI, error) {
	o := collect(v3, []part{p})
	k = k.within(p.own)
	document, err := builder3.BuildOpenAPISpecFromRoutes([]common.RouteContainer{
		&routes{"/", o.routes},
	}, &common.OpenAPIV3Config{
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
		return nil, fmt.Errorf("building the document of %s: %w", p.path, err)
	}
	return document, nil
}

// buildV2 makes the document of v2.
func buildV2(gitVersion string, list []part, k kinds) (*spec.Swagger, error) {
	o := collect(v2, list)
	document, err := builder.BuildOpenAPISpecFromRoutes([]common.RouteContainer{&routes{"/", o.routes}}, &common.Config{
		ProtocolList:    []string{"https"},
		Info:            info(gitVersion),
		CommonResponses: map[int]spec.Response{401: {ResponseProps: spec.ResponseProps{Description: "Unauthorized"}}},
		SecurityDefinitions: &spec.SecurityDefinitions{"BearerToken": {SecuritySchemeProps: spec.SecuritySchemeProps{
			Type: "apiKey", Name: "authorization", In: "header", Description: "Bearer Token authentication",
		}}},
		DefaultSecurity: []map[string][]string{{"BearerToken": {}}},
		GetDefinitions: func(common.ReferenceCallback) map[string]common.OpenAPIDefinition {
			return o.definitions.schemas
		},
		GetDefinitionName:              func(name string) (string, spec.Extensions) { return name, k.extensions(name) },
		GetOperationIDAndTagsFromRoute: identify,
	})
	if err != nil {
		return nil, fmt.Errorf("building the document of v2: %w", err)
	}
	return document, nil
}
