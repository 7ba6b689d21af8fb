package openapi

import (
	"slices"
	"strings"

	"github.com/emicklei/go-restful/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	jsonType    = []string{"application/json"}
	mediaTypes  = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	streamTypes = []string{"application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"}
	allTypes    = slices.Concat(mediaTypes, streamTypes)
	anyType     = []string{"*/*"}
	customTypes = []string{"application/json", "application/yaml"}
	patchTypes  = []string{
		"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
		"application/apply-patch+yaml",
	}
	customPatchTypes = []string{
		"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml",
	}
)

const (
	watchAdvice = ". deprecated: use the 'watch' parameter with a list operation instead"
	itemAdvice  = ", filtered to a single item with the 'fieldSelector' parameter"
)

// operations collects the operations and schemas of a document. Descriptions, IDs and responses are those of AS
// pkg/endpoints/installer.go:registerResourceHandlers.
type operations struct {
	definitions *definitions
	queries     *queries
	scope       scope
	routes      routes
	// errs are the errors of custom types, which are omitted.
	errs []error
}

func (o *operations) model(object any) model { return model(o.definitions.add(structOf(object))) }

// endpoint is a resource or a subresource whose operations are added.
type endpoint struct {
	*operations
	typ *Type
	// sub is empty for the resource itself.
	sub   string
	verbs []string
	// custom reports whether it is a custom resource. Upstream builds these operations with other code (AX
	// pkg/controller/openapi/builder), and with less content: no watch paths, no protobuf, no strategic merge patch.
	custom bool
	// object is the schema of bodies, list that of lists. list is empty for a resource that can't be listed.
	object, list model
	// kind is the group, version and kind of the operations.
	kind metav1.GroupVersionKind
	// root is the path of the group version.
	root string
}

// add adds the operations of a resource and of its subresources.
func (o *operations) add(t *Type) {
	kind := metav1.GroupVersionKind{Group: t.Group, Version: t.Version, Kind: t.Kind}
	e := endpoint{
		operations: o, typ: t, verbs: t.Verbs, custom: t.Custom != nil, kind: kind, root: prefix(t.groupVersion()),
	}
	if e.custom {
		var err error
		if e.object, e.list, err = o.definitions.addCustom(t); err != nil {
			o.errs = append(o.errs, err)
			return
		}
		e.verbs = slices.DeleteFunc(slices.Clone(t.Verbs), func(verb string) bool { return verb == "watch" })
	} else if e.object = o.model(t.Object); t.List != nil {
		e.list = o.model(t.List)
	}
	if t.Namespaced {
		e.collections("/namespaces/{namespace}/"+t.Plural, "Namespaced", "")
		e.collections("/"+t.Plural, "", "ForAllNamespaces")
		e.items("/namespaces/{namespace}/"+t.Plural+"/{name}", "Namespaced")
	} else {
		e.collections("/"+t.Plural, "", "")
		e.items("/"+t.Plural+"/{name}", "")
	}
	for _, s := range t.Subresources {
		e := e
		e.sub, e.verbs = s.Name, s.Verbs
		if s.Object != nil {
			e.object = o.model(s.Object)
		}
		if !s.Kind.Empty() && !e.custom {
			e.kind = metav1.GroupVersionKind{Group: s.Kind.Group, Version: s.Kind.Version, Kind: s.Kind.Kind}
		}
		path, namespaced := "/"+t.Plural+"/{name}/"+s.Name, ""
		if t.Namespaced {
			path, namespaced = "/namespaces/{namespace}"+path, "Namespaced"
		}
		switch options, _ := s.Options.(documented); {
		case options == nil:
			e.items(path, namespaced)
		case s.Kind.Empty():
			r := e.route("GET", path, "get", e.scope.id("read", e.name(namespaced)),
				e.described("read", "the specified ", t.Kind))
			r.Route.Produces = append([]string{"text/plain"}, mediaTypes...)
			r.query(queryParameters(options)...).answer(200, "string")
		case s.Proxied:
			methods := []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}
			e.connections(path, namespaced, "", options, methods...)
			e.connections(path+"/{path}", namespaced, "WithPath", options, methods...)
		default:
			e.connections(path, namespaced, "", options, "GET", "POST")
		}
	}
}

// connections adds an operation for each method of a connection.
func (e *endpoint) connections(path, namespaced, suffix string, options documented, methods ...string) {
	for _, method := range methods {
		r := e.route(method, path, "connect", e.scope.id("connect", title(method)+e.name(namespaced)+suffix),
			e.described("connect "+method+" requests to", "", e.typ.Kind))
		r.Route.Produces = anyType
		if suffix != "" {
			r.query(restful.PathParameter("path", "path to the resource"))
		}
		r.query(queryParameters(options)...).answer(200, "string")
	}
}

// route adds an operation with the parameters of its path. action is the value of x-kubernetes-action.
func (e *endpoint) route(method, path, action, id, text string) *route {
	r := newRoute(&restful.Route{
		Method: method, Path: e.root + path, Doc: text, Operation: id, Consumes: anyType, Produces: mediaTypes,
		Metadata: map[string]any{extensionKind: e.kind, "x-kubernetes-action": action},
	}, e.scope.tag())
	if e.custom {
		r.Route.Consumes, r.Route.Produces = customTypes, customTypes
	}
	if action != "connect" {
		r.query(restful.QueryParameter("pretty", prettyText))
	}
	if strings.Contains(path, "{namespace}") {
		r.query(restful.PathParameter("namespace", "object name and auth scope, such as for teams and projects"))
	}
	if strings.Contains(path, "{name}") {
		r.query(restful.PathParameter("name", "name of the "+e.kind.Kind))
	}
	e.routes = append(e.routes, r)
	return r
}

// name returns the part of an operation's ID after the verb, the group and the version.
func (e *endpoint) name(namespaced string) string { return namespaced + e.typ.Kind + title(e.sub) }

// described returns an operation's description. before is the text before the kind.
func (e *endpoint) described(verb, before, kind string) string {
	if e.sub != "" {
		return verb + " " + e.sub + " of " + before + kind
	}
	return verb + " " + before + kind
}

// collections adds LIST, POST and DELETE of collections, and the legacy watch path. For all namespaces it adds only
// reads.
func (e *endpoint) collections(path, namespaced, suffix string) {
	kind := e.typ.Kind
	everywhere := suffix != ""
	watches := slices.Contains(e.verbs, "watch")
	if slices.Contains(e.verbs, "list") && e.list != "" {
		text := "list objects of kind " + kind
		if watches {
			text = "list or watch objects of kind " + kind
		}
		r := e.route("GET", path, "list", e.scope.id("list", e.name(namespaced)+suffix), text)
		if !e.custom {
			r.Route.Produces = allTypes
		}
		r.query(e.queries.list...).answer(200, e.list)
		if watches {
			id := e.scope.id("watch", e.name(namespaced)+"List"+suffix)
			r := e.route("GET", "/watch"+path, "watchlist", id, "watch individual changes to a list of "+kind+watchAdvice+".")
			e.watch(r)
		}
	}
	if slices.Contains(e.verbs, "create") && !everywhere {
		e.create(path, namespaced)
	}
	if slices.Contains(e.verbs, "deletecollection") && !everywhere {
		r := e.route(
			"DELETE", path, "deletecollection", e.scope.id("delete", "Collection"+e.name(namespaced)),
			"delete collection of "+kind,
		)
		if e.custom {
			r.query(e.queries.list...)
		} else {
			r.query(e.queries.delete...).query(e.queries.deleteCollection...).read(e.model(metav1.DeleteOptions{}), false)
		}
		r.answer(200, e.model(metav1.Status{}))
	}
}

// items adds the operations for one object or its subresource.
func (e *endpoint) items(path, namespaced string) {
	kind := e.typ.Kind
	id := func(verb string) string { return e.scope.id(verb, e.name(namespaced)) }
	if slices.Contains(e.verbs, "get") {
		r := e.route("GET", path, "get", id("read"), e.described("read", "the specified ", kind))
		if e.custom {
			r.query(e.queries.get...)
		}
		r.answer(200, e.object)
	}
	if slices.Contains(e.verbs, "create") && e.sub != "" {
		e.create(path, namespaced)
	}
	if slices.Contains(e.verbs, "update") {
		r := e.route("PUT", path, "put", id("replace"), e.described("replace", "the specified ", kind))
		r.query(e.queries.update...).read(e.object, true).answer(200, e.object).answer(201, e.object)
	}
	if slices.Contains(e.verbs, "patch") {
		r := e.route("PATCH", path, "patch", id("patch"), e.described("partially update", "the specified ", kind))
		r.query(e.queries.patch...).read(e.model(metav1.Patch{}), true).answer(200, e.object)
		if r.Route.Consumes = customPatchTypes; !e.custom {
			r.Route.Consumes = patchTypes
			r.answer(201, e.object)
		}
	}
	if slices.Contains(e.verbs, "delete") {
		r := e.route("DELETE", path, "delete", id("delete"), e.described("delete", "", article(kind)))
		result := e.object
		if !e.typ.DeletesReturnObject {
			result = e.model(metav1.Status{})
		}
		r.query(e.queries.delete...).read(e.model(metav1.DeleteOptions{}), false).answer(200, result).answer(202, result)
	}
	if slices.Contains(e.verbs, "watch") && e.sub == "" {
		r := e.route(
			"GET", "/watch"+path, "watch", id("watch"), "watch changes to an object of kind "+kind+watchAdvice+itemAdvice+".",
		)
		e.watch(r)
	}
}

func (e *endpoint) create(path, namespaced string) {
	r := e.route(
		"POST", path, "post", e.scope.id("create", e.name(namespaced)), e.described("create", "", article(e.typ.Kind)),
	)
	r.query(e.queries.create...).read(e.object, true)
	r.answer(200, e.object).answer(201, e.object).answer(202, e.object)
}

func (e *endpoint) watch(r *route) {
	r.Route.Produces = allTypes
	r.query(e.queries.list...).answer(200, e.model(metav1.WatchEvent{}))
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
}
