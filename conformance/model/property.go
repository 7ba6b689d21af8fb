package model

// Unsafe reports whether deleting the object now would break safety: one of its owners is there,
// where the reference says, and isn't being deleted in the foreground. It is a formula of its own,
// not the collector's judgement.
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

// Abandoned returns the live objects that break liveness once the collector rests: they have
// owners, all of kinds that can be looked up from where they are, and none is there, under the name and kind of the
// reference and where the object can reach it (D-71, D-75).
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
