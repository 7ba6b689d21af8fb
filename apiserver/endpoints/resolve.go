package endpoints

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// isNamed reports whether objects of the resource have paths of their own.
func isNamed(r *resources.Resource) bool {
	return r.Has("get") || r.Has("update") || r.Has("patch") || r.Has("delete")
}

// resolve finds the resource, the subresource and the object that a request of a resource names. Errors:
// status.ErrNoRoute if that is nothing which is served, status.ErrEmptyName for a subresource of an object without a
// name, 400 for names that can't be one (0-17).
func resolve(types *resources.Types, info *requestinfo.Info) (registry.Target, error) {
	switch {
	case !info.IsResourceRequest, info.Verb == "proxy", info.APIPrefix == "apis" && info.APIGroup == "":
		return registry.Target{}, status.ErrNoRoute
	case !strings.HasPrefix(info.Path, "/"+info.APIPrefix+"/"): // it begins with two slashes
		return registry.Target{}, status.ErrNoRoute
	case strings.HasSuffix(info.Path, "/"): // an escaped slash, which must not make a collection of a wrong name
		return registry.Target{}, status.ErrNoRoute
	}
	watch, namespaced := info.Prefixes()
	t := registry.Target{Resource: types.Lookup(info.APIGroup, info.APIVersion, info.Resource), Watch: watch}
	if t.Resource == nil || t.Resource.Off {
		return registry.Target{}, status.ErrNoRoute
	}
	if namespaced {
		// Where a script omits a name, /namespaces//pods must not become the pods of all namespaces.
		if t.Namespace = info.Namespace; t.Namespace == "" {
			return registry.Target{}, status.ErrNoRoute
		}
	}
	if len(info.Parts) > 1 {
		t.Name = info.Parts[1]
	}
	if len(info.Parts) > 2 {
		if t.Subresource = t.Resource.Subresource(info.Parts[2]); t.Subresource == nil {
			return registry.Target{}, status.ErrNoRoute
		}
		t.Rest = strings.Join(info.Parts[3:], "/")
	}
	if err := check(t, len(info.Parts)); err != nil {
		return registry.Target{}, err
	}
	return t, checkSegments(t)
}

// check reports whether there is a path with this number of parts.
func check(target registry.Target, parts int) error {
	if parts > 3 && target.Subresource.Action != resources.Unserved {
		return status.ErrNoRoute
	}
	everywhere := target.Resource.Namespaced && target.Name == "" && target.Resource.Has("list")
	if target.Resource.Namespaced == (target.Namespace == "") && !everywhere {
		return status.ErrNoRoute
	}
	if target.Name != "" && target.Subresource == nil && !isNamed(target.Resource) {
		return status.ErrNoRoute
	}
	if target.Subresource != nil && target.Name == "" {
		return status.ErrEmptyName
	}
	return nil
}

// checkSegments rejects names that can't be one segment of a path (0-17).
func checkSegments(target registry.Target) error {
	for _, p := range []struct{ what, value string }{{"Namespace", target.Namespace}, {"Name", target.Name}} {
		if errs := path.IsValidPathSegmentName(p.value); len(errs) > 0 {
			return status.BadRequest("%s parameter invalid: %q: %s", p.what, p.value, strings.Join(errs, ";"))
		}
	}
	return nil
}

// verbs are the verbs of the methods on the legacy paths of watches, for which Info's verb is always watch.
var verbs = map[string]string{
	http.MethodGet: "watch", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch",
	http.MethodDelete: "delete",
}

// verbOf is the verb that a method means for the request; empty for HEAD, which is authorized as GET and not served.
func verbOf(info *requestinfo.Info, method string) string {
	switch {
	case method == http.MethodHead:
		return ""
	case info.Verb != "watch":
		return info.Verb
	}
	return verbs[method]
}
