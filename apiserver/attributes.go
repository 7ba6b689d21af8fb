package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// attributesOf reads what a request is to be judged by from its path, before anybody knows whether there
// is such a thing: who may not know is told no more than that
// (AS pkg/endpoints/request/requestinfo.go: NewRequestInfo).
func attributesOf(r *http.Request) *auth.Attributes {
	a := &auth.Attributes{User: userOf(r), Verb: strings.ToLower(r.Method), Path: r.URL.Path}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) >= 3:
		a.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) >= 4:
		a.Group, a.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return a
	}
	a.IsResource, a.Verb = true, methodVerb(r.Method)
	prefixed := parts[0] == "watch" || parts[0] == "proxy"
	if prefixed {
		if a.Verb, parts = parts[0], parts[1:]; len(parts) == 0 {
			return a
		}
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		a.Namespace = parts[1]
		if len(parts) > 2 && !slices.Contains(registry.NamespaceSubresources, parts[2]) {
			parts = parts[2:]
		}
	}
	a.Resource = parts[0]
	if len(parts) > 1 {
		a.Name = parts[1]
	}
	if len(parts) > 2 && a.Verb != "proxy" && a.Verb != "watch" {
		a.Subresource = parts[2]
	}
	if a.Name == "" {
		ofCollection(a, r)
	}
	return a
}

// attributes is attributesOf, in turn where that is long. The error is the request's context's.
func (s *Server) attributes(r *http.Request) (a *auth.Attributes, err error) {
	err = s.inTurn(r, userOf(r).Name, len(r.URL.RawQuery) > slowQuery, func() { a = attributesOf(r) })
	return a, err
}

// ofCollection fits verb and name to a path without a name. A field selector for one name makes it the
// request's, so that who may see one object may list and watch it.
func ofCollection(a *auth.Attributes, r *http.Request) {
	switch a.Verb {
	case "delete":
		a.Verb = "deletecollection"
	case "get":
		a.Verb = "list"
		if wantsWatch(r) {
			a.Verb = "watch"
		}
		if exchange.Query(r).Get("fieldSelector") == "" { // the others needn't be read to know that
			return
		}
		var o metainternal.ListOptions
		if err := readQuery(exchange.Query(r), &o); err != nil || o.FieldSelector == nil {
			return
		}
		if name, ok := o.FieldSelector.RequiresExactMatch("metadata.name"); ok && len(path.IsValidPathSegmentName(name)) == 0 {
			a.Name = name
		}
	}
}

func methodVerb(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodGet, http.MethodHead:
		return "get"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	return ""
}

// attributesFor are those of a request that was routed.
func attributesFor(u auth.User, t registry.Target, verb string) *auth.Attributes {
	a := &auth.Attributes{User: u, Verb: verb, IsResource: true, Group: t.Resource.Group, Version: t.Resource.Version, Resource: t.Resource.Plural,
		Namespace: t.Namespace, Name: t.Name}
	if t.Subresource != nil {
		a.Subresource = t.Subresource.Name
	}
	if a.Group == "" && a.Resource == "namespaces" {
		a.Namespace = t.Name // a namespace is in itself
	}
	return a
}

// covers reports whether a request that was judged by one set of attributes was judged by the other. The
// name that a field selector has given is the only one that may be more.
func covers(judged, routed *auth.Attributes) bool {
	return judged.IsResource && judged.Verb == routed.Verb && judged.Group == routed.Group && judged.Version == routed.Version &&
		judged.Resource == routed.Resource && judged.Subresource == routed.Subresource && judged.Namespace == routed.Namespace &&
		(judged.Name == routed.Name || routed.Name == "" && (routed.Verb == "list" || routed.Verb == "watch"))
}
