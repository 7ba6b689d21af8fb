package registry

import "github.com/kubecascade/kubecascade/apiserver/resources"

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

// Key returns the etcd key of the named object, or of the collection (with a slash at its end)
// if t has no name.
func (t Target) Key(root string) string {
	k := root + "/" + t.Resource.Collection + "/"
	if t.Namespace != "" {
		k += t.Namespace + "/"
	}
	return k + t.Name
}

// LongRunning reports whether requests of the verb have no deadline (0-13).
func LongRunning(verb string) bool {
	return verb == "watch" || verb == "list" || verb == "deletecollection"
}

// Serves reports whether the verb is served at the target.
func (t Target) Serves(verb string) bool {
	if t.Watch && verb != "watch" {
		return false
	}
	if t.Subresource != nil {
		return t.Subresource.Has(verb)
	}
	named := t.Name != ""
	switch verb {
	case "create", "deletecollection":
		// A write to a namespaced collection needs a namespace.
		if named || t.Resource.Namespaced && t.Namespace == "" {
			return false
		}
	case "update", "patch", "delete":
		if !named {
			return false
		}
	}
	return t.Resource.Has(verb)
}

// Named reports whether objects of the resource have paths of their own.
func (t Target) Named() bool {
	return t.Resource.Has("get") || t.Resource.Has("update") || t.Resource.Has("patch") || t.Resource.Has("delete")
}
