package model

import "slices"

// update executes a PUT or PATCH.
func update(s State, op Op) (State, Response, []Event) {
	custom := KindOf(op.Key.Kind).Custom
	if custom && op.Verb == Strategic { // B-50, before the object is looked up
		return s, Response{Code: 415, Reason: "UnsupportedMediaType"}, nil
	}
	old, ok := s[op.Key]
	if !ok {
		return s, notFound(), nil
	}
	if op.Verb == Put && op.UID != "" && op.UID != old.UID { // B-09, before all other checks
		return s, conflict(), nil
	}
	if op.Verb == Put && op.Version == 0 && custom { // B-06
		return s, invalid(), nil
	}
	next, ok := change(old, op)
	if !ok {
		return s, invalid(), nil
	}
	if op.Version != 0 && op.Version != old.Version { // B-08
		return s, conflict(), nil
	}
	if op.UID != "" && op.UID != old.UID { // B-57
		return s, invalid(), nil
	}
	next.Owners = dedup(next.Owners)
	if !valid(next) || old.Deleting && gains(old, next) { // B-16, B-14
		return s, invalid(), nil
	}
	answer := Response{Code: 200, Object: &next}
	switch {
	case op.DryRun:
		return s, answer, nil
	case old.Deleting && len(next.Finalizers) == 0 && old.Grace <= 0: // B-20, B-21, B-22
		return s.without(old.Key), answer, []Event{{Deleted, old}}
	case next.Same(old): // B-17
		return s, answer, nil
	}
	return s.with(next), answer, []Event{{Modified, next}}
}

// gains reports whether next has a finalizer that old does not have.
func gains(old, next Object) bool {
	return slices.ContainsFunc(next.Finalizers, func(f string) bool { return !old.Has(f) })
}

// change returns the object after the PUT or patch. It returns false if the patch can't be applied.
func change(o Object, op Op) (Object, bool) {
	switch op.Verb {
	case Put:
		o.Owners, o.Finalizers, o.Label = op.Owners, op.Finalizers, op.Label
	case Merge: // B-53: lists are replaced
		if op.Set&SetOwners != 0 {
			o.Owners = op.Owners
		}
		if op.Set&SetFinalizers != 0 {
			o.Finalizers = op.Finalizers
		}
		if op.Set&SetLabel != 0 {
			o.Label = op.Label
		}
	case Strategic: // B-54: references merge by uid
		o.Owners = mergeOwners(o.Owners, op.Owners, op.Drop)
	case JSON: // B-52: a field that does not exist can't be removed
		switch {
		case op.Remove == "finalizers" && len(o.Finalizers) > 0:
			o.Finalizers = nil
		case op.Remove == "ownerReferences" && len(o.Owners) > 0:
			o.Owners = nil
		default:
			return o, false
		}
	}
	return o, true
}

// mergeOwners merges references by uid and removes the dropped ones. References with the same uid become adjacent. New
// references come first.
func mergeOwners(owners, add []Owner, drop []UID) []Owner {
	merged := slices.DeleteFunc(slices.Clone(owners), func(r Owner) bool { return slices.Contains(drop, r.UID) })
	for _, a := range add {
		i := slices.IndexFunc(merged, func(r Owner) bool { return r.UID == a.UID })
		if i < 0 {
			merged = append([]Owner{a}, merged...) // an item that is not in the server's list comes first
			continue
		}
		r := &merged[i]
		r.APIVersion, r.Kind, r.Name = a.APIVersion, a.Kind, a.Name
		if a.Controller != Unset { // fields that the patch does not have stay
			r.Controller = a.Controller
		}
		if a.Block != Unset {
			r.Block = a.Block
		}
	}
	first := func(r Owner) int {
		return slices.IndexFunc(owners, func(o Owner) bool { return o.UID == r.UID })
	}
	slices.SortStableFunc(merged, func(a, b Owner) int { return first(a) - first(b) })
	return merged
}
