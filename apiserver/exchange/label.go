package exchange

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Label is kube-apiserver's labels of a request. DryRun is "All" or empty.
type Label struct{ Verb, Group, Version, Resource, Subresource, Scope, DryRun string }

// LabelOf names a request as kube-apiserver does (AS pkg/endpoints/metrics: CleanScope): two verbs by
// their methods, the others by their names, and a create as of the one object that it makes.
func LabelOf(t registry.Target, verb string) Label {
	l := Label{
		Verb: strings.ToUpper(verb), Group: t.Resource.Group, Version: t.Resource.Version, Resource: t.Resource.Plural,
		Scope: "cluster",
	}
	switch verb {
	case "create":
		l.Verb = http.MethodPost
	case "update":
		l.Verb = http.MethodPut
	}
	switch {
	case t.Name != "" || verb == "create":
		l.Scope = "resource"
	case t.Namespace != "":
		l.Scope = "namespace"
	}
	if t.Subresource != nil {
		l.Subresource = t.Subresource.Name
	}
	return l
}

// ResourceOf is the resource that the request is for.
func (l Label) ResourceOf() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: l.Group, Version: l.Version, Resource: l.Resource}
}

// Scoped are the values of the labels that all metrics of requests have.
func (l Label) Scoped() []string {
	return []string{l.Verb, l.Group, l.Version, l.Resource, l.Subresource, l.Scope}
}

// Tried are those of Scoped, and dryRun.
func (l Label) Tried() []string { return append(l.Scoped(), l.DryRun) }
