package endpoints

import (
	"net/http"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// labelOf returns the labels that kube-apiserver uses (AS pkg/endpoints/metrics: CleanScope): two verbs are named by
// their HTTP methods, and a create has the scope of the one object that it creates.
func labelOf(t registry.Target, verb string) metrics.Label {
	l := metrics.Label{
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
