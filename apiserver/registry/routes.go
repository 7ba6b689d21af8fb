package registry

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
