package endpoints

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// named are the verbs that make a path of an object.
var named = []string{"get", "update", "patch", "delete"}

// resolve finds the resource, the subresource and the object that a request of a resource names. Errors:
// status.ErrNoRoute if that is nothing which is served, status.ErrEmptyName for a subresource of an object without a
// name, 400 for names that can't be one (0-17).
func resolve(types *resources.Types, i *requestinfo.Info) (registry.Target, error) {
	switch {
	case !i.IsResourceRequest, i.Verb == "proxy", i.APIPrefix == "apis" && i.APIGroup == "":
		return registry.Target{}, status.ErrNoRoute
	case !strings.HasPrefix(i.Path, "/"+i.APIPrefix+"/"): // it begins with two slashes
		return registry.Target{}, status.ErrNoRoute
	case strings.HasSuffix(i.Path, "/"): // an escaped slash, which must not make a collection of a wrong name
		return registry.Target{}, status.ErrNoRoute
	}
	watch, namespaced := i.Prefixes()
	t := registry.Target{Resource: types.Lookup(i.APIGroup, i.APIVersion, i.Resource), Watch: watch}
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

// verbOf is the verb that a method means for the request; empty for HEAD, which is authorized as GET and not served. On
// the legacy paths of watches Info's verb is watch for every method.
func verbOf(i *requestinfo.Info, method string) string {
	switch {
	case method == http.MethodHead:
		return ""
	case i.Verb != "watch":
		return i.Verb
	}
	switch method {
	case http.MethodGet:
		return "watch"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	return ""
}
