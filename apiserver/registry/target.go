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
