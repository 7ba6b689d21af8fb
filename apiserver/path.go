package apiserver

import (
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// target is what a path below a group version names.
type target struct {
	res *resources.Resource
	sub *resources.Subresource
	// namespace is empty for cluster-scoped resources and for all namespaces.
	namespace, name string
	// watch is set by the legacy paths /api/v1/watch/... .
	watch bool
	// rest is what follows a subresource in the path (proxy).
	rest string
}

// namespaceSubresources are the segments that belong to the namespace itself and not to a
// resource inside it: /api/v1/namespaces/a/finalize (AS pkg/endpoints/request/requestinfo.go).
var namespaceSubresources = []string{"status", "finalize"}

// named are the verbs that make a path of an object.
var named = []string{"get", "update", "patch", "delete"}

// resolve reads the segments behind /api/<version> or /apis/<group>/<version>. It returns
// status.ErrNoRoute if they name nothing that is served.
func resolve(types *resources.Types, group, version, escaped string) (target, error) {
	parts, err := segments(escaped)
	if err != nil {
		return target{}, err
	}
	var t target
	if len(parts) > 1 && parts[0] == "watch" {
		t.watch, parts = true, parts[1:]
	}
	if len(parts) == 0 {
		return target{}, status.ErrNoRoute
	}
	if parts[0] == "" {
		return target{}, status.ErrNoRoute
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !(len(parts) == 3 && slices.Contains(namespaceSubresources, parts[2])) {
		// Where a script has left out a name, /namespaces//pods must not become all namespaces' pods.
		if t.namespace, parts = parts[1], parts[2:]; t.namespace == "" {
			return target{}, status.ErrNoRoute
		}
	}
	if t.res = types.Lookup(group, version, parts[0]); t.res == nil || t.res.Off {
		return target{}, status.ErrNoRoute
	}
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		if t.sub = t.res.Subresource(parts[2]); t.sub == nil {
			return target{}, status.ErrNoRoute
		}
		t.rest = strings.Join(parts[3:], "/")
	}
	if len(parts) > 3 && t.sub.Action != resources.Unserved {
		return target{}, status.ErrNoRoute
	}
	if t.res.Namespaced == (t.namespace == "") && !(t.res.Namespaced && t.name == "" && t.res.Has("list")) {
		return target{}, status.ErrNoRoute
	}
	if t.name != "" && t.sub == nil && !slices.ContainsFunc(named, t.res.Has) {
		return target{}, status.ErrNoRoute
	}
	if t.sub != nil && t.name == "" {
		return target{}, status.ErrEmptyName
	}
	return t, checkSegments(t)
}

// segments splits an escaped path and unescapes each part. An empty part is kept: nothing is passed over.
func segments(escaped string) ([]string, error) {
	var parts []string
	for p := range strings.SplitSeq(strings.TrimPrefix(escaped, "/"), "/") {
		u, err := url.PathUnescape(p)
		if err != nil {
			return nil, status.ErrNoRoute
		}
		parts = append(parts, u)
	}
	return parts, nil
}

// checkSegments refuses names that can't be one segment of a path (0-17).
func checkSegments(t target) error {
	for _, p := range []struct{ what, value string }{{"Namespace", t.namespace}, {"Name", t.name}} {
		if faults := path.IsValidPathSegmentName(p.value); len(faults) > 0 {
			return status.BadRequest("%s parameter invalid: %q: %s", p.what, p.value, strings.Join(faults, ";"))
		}
	}
	return nil
}

// key returns the etcd key of the named object, or of the collection (with a slash at its end)
// if t has no name.
func (t target) key(root string) string {
	k := root + "/" + t.res.Collection + "/"
	if t.namespace != "" {
		k += t.namespace + "/"
	}
	return k + t.name
}
