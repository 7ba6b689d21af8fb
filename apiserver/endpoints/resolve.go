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

// isNamed reports whether the resource's paths can have an object name.
func isNamed(r *resources.Resource) bool {
	return r.Has("get") || r.Has("update") || r.Has("patch") || r.Has("delete")
}

// resolve returns the target of a request for a resource. The error is status.ErrNoRoute if the path is not served,
// status.ErrEmptyName if it has a subresource and an empty object name, or a 400 for an invalid name (0-17).
func resolve(types *resources.Types, info *requestinfo.Info) (registry.Target, error) {
	switch {
	case !info.IsResourceRequest, info.Verb == "proxy", info.APIPrefix == "apis" && info.APIGroup == "":
		return registry.Target{}, status.ErrNoRoute
	case !strings.HasPrefix(info.Path, "/"+info.APIPrefix+"/"): // the path begins with two slashes
		return registry.Target{}, status.ErrNoRoute
	case strings.HasSuffix(info.Path, "/"): // an escaped slash, so that a wrong name does not select the collection
		return registry.Target{}, status.ErrNoRoute
	}
	watch, namespaced := info.Prefixes()
	t := registry.Target{Resource: types.Lookup(info.APIGroup, info.APIVersion, info.Resource), Watch: watch}
	if t.Resource == nil || t.Resource.Off {
		return registry.Target{}, status.ErrNoRoute
	}
	if namespaced {
		// /namespaces//pods must not select the pods of all namespaces: a script may have inserted an empty name.
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

// check returns an error if the target has no path with this number of parts.
func check(target registry.Target, parts int) error {
	if parts > 3 && target.Subresource.Action != resources.Proxied {
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

// verbs maps methods to verbs for the legacy watch paths, on which Info.Verb is always watch.
var verbs = map[string]string{
	http.MethodGet: "watch", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch",
	http.MethodDelete: "delete",
}

// verbOf returns the verb of a request. It is empty for HEAD, which the server authorizes like GET, but does not serve.
func verbOf(info *requestinfo.Info, method string) string {
	switch {
	case method == http.MethodHead:
		return ""
	case info.Verb != "watch":
		return info.Verb
	}
	return verbs[method]
}
