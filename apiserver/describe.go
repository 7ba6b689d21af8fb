package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/openapi"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Documented lists the types of a table for their OpenAPI documents.
func Documented(types *resources.Types) []openapi.Type {
	scheme := resources.Scheme()
	var out []openapi.Type
	for _, r := range types.All() {
		if r.Custom {
			continue
		}
		t := openapi.Type{
			Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural, Namespaced: r.Namespaced, Verbs: r.Verbs,
			Object: r.New(), DeletesReturnObject: r.Delete.Returned,
		}
		if list, err := scheme.New(r.GroupVersion().WithKind(r.Kind + "List")); err == nil {
			t.List = list
		}
		for _, sub := range r.Subresources {
			if sub.Action == resources.Unserved {
				continue
			}
			t.Subresources = append(t.Subresources, documentedSub(scheme, sub))
		}
		out = append(out, t)
	}
	return out
}

func documentedSub(scheme *runtime.Scheme, sub resources.Subresource) openapi.Subresource {
	d := openapi.Subresource{Name: sub.Name, Verbs: sub.Verbs, Kind: sub.Kind}
	if !sub.Kind.Empty() {
		if obj, err := scheme.New(sub.Kind); err == nil {
			d.Object = obj
		}
	}
	return d
}
