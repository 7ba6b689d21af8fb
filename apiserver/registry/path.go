package registry

import (
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Target is what a path below a group version names.
type Target struct {
	Resource    *resources.Resource
	Subresource *resources.Subresource
	// Namespace is empty for cluster-scoped resources and for all namespaces.
	Namespace, Name string
	// Watch is set by the legacy paths /api/v1/watch/... .
	Watch bool
	// Rest is what follows a subresource in the path (proxy).
	Rest string
}

// NamespaceSubresources are the segments that belong to the namespace itself and not to a
// resource inside it: /api/v1/namespaces/a/finalize (AS pkg/endpoints/request/requestinfo.go).
var NamespaceSubresources = []string{"status", "finalize"}

// named are the verbs that make a path of an object.
var named = []string{"get", "update", "patch", "delete"}

// Resolve reads the segments behind /api/<version> or /apis/<group>/<version>. It returns
// status.ErrNoRoute if they name nothing that is served.
func Resolve(types *resources.Types, group, version, escaped string) (Target, error) {
	parts, err := segments(escaped)
	if err != nil {
		return Target{}, err
	}
	var t Target
	if len(parts) > 1 && parts[0] == "watch" {
		t.Watch, parts = true, parts[1:]
	}
	if len(parts) == 0 {
		return Target{}, status.ErrNoRoute
	}
	if parts[0] == "" {
		return Target{}, status.ErrNoRoute
	}
	ofNamespace := len(parts) == 3 && slices.Contains(NamespaceSubresources, parts[2])
	if parts[0] == "namespaces" && len(parts) > 2 && !ofNamespace {
		// Where a script omits a name, /namespaces//pods must not become the pods of all namespaces.
		if t.Namespace, parts = parts[1], parts[2:]; t.Namespace == "" {
			return Target{}, status.ErrNoRoute
		}
	}
	if t.Resource = types.Lookup(group, version, parts[0]); t.Resource == nil || t.Resource.Off {
		return Target{}, status.ErrNoRoute
	}
	if len(parts) > 1 {
		t.Name = parts[1]
	}
	if len(parts) > 2 {
		if t.Subresource = t.Resource.Subresource(parts[2]); t.Subresource == nil {
			return Target{}, status.ErrNoRoute
		}
		t.Rest = strings.Join(parts[3:], "/")
	}
	if len(parts) > 3 && t.Subresource.Action != resources.Unserved {
		return Target{}, status.ErrNoRoute
	}
	everywhere := t.Resource.Namespaced && t.Name == "" && t.Resource.Has("list")
	if t.Resource.Namespaced == (t.Namespace == "") && !everywhere {
		return Target{}, status.ErrNoRoute
	}
	if t.Name != "" && t.Subresource == nil && !slices.ContainsFunc(named, t.Resource.Has) {
		return Target{}, status.ErrNoRoute
	}
	if t.Subresource != nil && t.Name == "" {
		return Target{}, status.ErrEmptyName
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

// checkSegments rejects names that can't be one segment of a path (0-17).
func checkSegments(t Target) error {
	for _, p := range []struct{ what, value string }{{"Namespace", t.Namespace}, {"Name", t.Name}} {
		if errs := path.IsValidPathSegmentName(p.value); len(errs) > 0 {
			return status.BadRequest("%s parameter invalid: %q: %s", p.what, p.value, strings.Join(errs, ";"))
		}
	}
	return nil
}

// Key returns the etcd key of the named object, or of the collection (with a slash at its end)
// if t has no name.
func (t Target) Key(root string) string {
	k := root + "/" + t.Resource.Collection + "/"
	if t.Namespace != "" {
		k += t.Namespace + "/"
	}
	return k + t.Name
}
