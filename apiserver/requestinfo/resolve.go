package requestinfo

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// named are the verbs that make a path of an object.
var named = []string{"get", "update", "patch", "delete"}

// Resolve finds the resource, the subresource and the object that a request of a resource names. Errors:
// status.ErrNoRoute if that is nothing which is served, status.ErrEmptyName for a subresource of an object without a
// name, 400 for names that can't be one (0-17).
func Resolve(types *resources.Types, i *Info) (registry.Target, error) {
	if !i.IsResourceRequest || i.Verb == "proxy" {
		return registry.Target{}, status.ErrNoRoute
	}
	prefix, namespaced := i.prefix()
	t := registry.Target{
		Resource: types.Lookup(i.APIGroup, i.APIVersion, i.Resource), Watch: strings.HasSuffix(prefix, "/watch"),
	}
	if t.Resource == nil || t.Resource.Off {
		return registry.Target{}, status.ErrNoRoute
	}
	if namespaced {
		// Where a script omits a name, /namespaces//pods must not become the pods of all namespaces.
		if t.Namespace = i.Namespace; t.Namespace == "" {
			return registry.Target{}, status.ErrNoRoute
		}
	}
	if len(i.Parts) > 1 {
		t.Name = i.Parts[1]
	}
	if len(i.Parts) > 2 {
		if t.Subresource = t.Resource.Subresource(i.Parts[2]); t.Subresource == nil {
			return registry.Target{}, status.ErrNoRoute
		}
		t.Rest = strings.Join(i.Parts[3:], "/")
	}
	if err := check(t, len(i.Parts)); err != nil {
		return registry.Target{}, err
	}
	return t, checkSegments(t)
}

// check reports whether there is such a path of so many parts.
func check(t registry.Target, parts int) error {
	if parts > 3 && t.Subresource.Action != resources.Unserved {
		return status.ErrNoRoute
	}
	everywhere := t.Resource.Namespaced && t.Name == "" && t.Resource.Has("list")
	if t.Resource.Namespaced == (t.Namespace == "") && !everywhere {
		return status.ErrNoRoute
	}
	if t.Name != "" && t.Subresource == nil && !slices.ContainsFunc(named, t.Resource.Has) {
		return status.ErrNoRoute
	}
	if t.Subresource != nil && t.Name == "" {
		return status.ErrEmptyName
	}
	return nil
}

// checkSegments rejects names that can't be one segment of a path (0-17).
func checkSegments(t registry.Target) error {
	for _, p := range []struct{ what, value string }{{"Namespace", t.Namespace}, {"Name", t.Name}} {
		if errs := path.IsValidPathSegmentName(p.value); len(errs) > 0 {
			return status.BadRequest("%s parameter invalid: %q: %s", p.what, p.value, strings.Join(errs, ";"))
		}
	}
	return nil
}

// Served is the request's verb, if its method is one that is served for it; else empty. HEAD is authorized as GET, and
// not served.
func (i *Info) Served(method string) string {
	if method == http.MethodHead || i.Verb == "watch" && method != http.MethodGet {
		return ""
	}
	return i.Verb
}
