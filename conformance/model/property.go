package model

// Unsafe reports whether deleting the object now would violate safety: one of its owners exists, is the object that the
// reference names, and is not being deleted in the foreground. The function does not use the collector's decision.
func Unsafe(s State, o Object) bool {
	for _, r := range o.Owners {
		for _, owner := range s {
			reachable := owner.Namespace == "" || owner.Namespace == o.Namespace
			named := owner.Kind == r.Kind && owner.Name == r.Name && KindOf(owner.Kind).Serves(r.APIVersion)
			if owner.UID == r.UID && named && reachable && !owner.waits() {
				return true
			}
		}
	}
	return false
}

// Abandoned returns the objects that violate liveness when the collector is idle. They are not being deleted and have
// owners. All owners have kinds that can be looked up from the object's namespace. No owner exists with the name and
// kind of the reference and in a namespace that the object can refer to (D-71, D-75).
func Abandoned(s State) []Object {
	var all []Object
	for _, key := range s.Keys() {
		o := s[key]
		if o.Deleting || len(o.Owners) == 0 || KindOf(o.Kind).Ignored {
			continue
		}
		abandoned := true
		for _, r := range o.Owners {
			k, ok := served(r.APIVersion, r.Kind)
			owner, there := s.Find(r.UID)
			there = there && owner.Kind == r.Kind && owner.Name == r.Name &&
				(owner.Namespace == "" || owner.Namespace == o.Namespace)
			if !ok || k.Namespaced && o.Namespace == "" || there {
				abandoned = false
			}
		}
		if abandoned {
			all = append(all, o)
		}
	}
	return all
}
