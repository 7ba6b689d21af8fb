package metrics

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Label has the labels of a request in kube-apiserver's metrics. DryRun is "All" or empty.
type Label struct{ Verb, Group, Version, Resource, Subresource, Scope, DryRun string }

// LabelOf returns the labels that kube-apiserver uses (AS pkg/endpoints/metrics: CleanScope): two verbs are named by
// their HTTP methods, and a create has the scope of the one object that it creates.
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

// ResourceOf returns the resource of the request.
func (l Label) ResourceOf() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: l.Group, Version: l.Version, Resource: l.Resource}
}

// Scoped returns the values of the labels that all request metrics have.
func (l Label) Scoped() []string {
	return []string{l.Verb, l.Group, l.Version, l.Resource, l.Subresource, l.Scope}
}

// Tried returns the values of Scoped and dryRun.
func (l Label) Tried() []string { return append(l.Scoped(), l.DryRun) }
