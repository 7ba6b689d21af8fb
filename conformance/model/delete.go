package model

import "slices"

// remove executes a DELETE of one object.
func remove(s State, op Op) (State, Response, []Event) {
	if !validOptions(op) {
		return s, invalid(), nil
	}
	o, ok := s[op.Key]
	switch {
	case !ok:
		return s, notFound(), nil // C-64
	case op.UID != "" && op.UID != o.UID, op.Version != 0 && op.Version != o.Version: // C-10, C-11
		return s, conflict(), nil
	}
	end, next := fate(o, op)
	answer := Response{Code: 200, Object: &next}
	switch {
	case end == gone && !KindOf(o.Kind).Returned:
		answer.Object = nil // a Status (C-62)
	case end == stays && op.Orphans == False:
		answer.Code = 202 // C-61
	}
	if op.DryRun { // C-65, as J-21 wants it
		return s, answer, nil
	}
	switch {
	case end == gone && next.Same(o):
		return s.without(o.Key), answer, []Event{{Deleted, o}} // C-41
	case end == gone:
		return s.without(o.Key), answer, []Event{{Modified, next}, {Deleted, next}} // C-32
	case next.Same(o):
		return s, answer, nil // C-42
	}
	return s.with(next), answer, []Event{{Modified, next}}
}

func validOptions(op Op) bool {
	if op.Orphans != Unset && op.Policy != "" { // C-05
		return false
	}
	return slices.Contains([]string{"", "Background", "Foreground", "Orphan"}, op.Policy) // C-06
}

// end reports whether a DELETE removes an object.
type end bool

const (
	stays end = false
	gone  end = true
)

// fate returns whether a DELETE removes the object, and the object that the DELETE writes first: marked as being
// deleted, or unchanged. If the object is removed without such a write, fate returns it unchanged.
func fate(o Object, op Op) (end, Object) {
	k := KindOf(o.Kind)
	graceful := k.Graceful && !(o.Deleting && o.Grace <= 0) // C-35
	if graceful && o.Deleting && (op.Grace == nil || *op.Grace >= o.Grace) {
		return stays, o // C-33: not even the policy counts
	}
	next := o
	next.Finalizers = collectors(o.Finalizers, k, op)
	if !graceful && len(next.Finalizers) == 0 {
		return gone, o // C-41
	}
	if !o.Deleting && o.Generation > 0 { // C-32, C-40
		next.Generation++
	}
	next.Deleting, next.Grace = true, 0
	if graceful {
		next.Grace = period(o, op)
	}
	return end(graceful && next.Grace == 0 && len(next.Finalizers) == 0), next
}

// period returns the grace period of a pod that is not being deleted yet (C-30), or of a pod that is being deleted and
// gets a shorter one (C-34).
func period(o Object, op Op) int64 {
	switch {
	case o.Deleting:
		return *op.Grace
	case !o.Bound:
		return 0
	case op.Grace != nil:
		return *op.Grace
	}
	return o.Period
}

// collectors returns the finalizers after a DELETE (C-20, C-21).
func collectors(stored []string, k Kind, op Op) []string {
	isCollectors := func(f string) bool { return f == Orphan || f == Foreground }
	var want string
	first := slices.IndexFunc(stored, isCollectors)
	switch {
	case k.Ignored:
	case op.Orphans == True, op.Policy == "Orphan":
		want = Orphan
	case op.Policy == "Foreground":
		want = Foreground
	case op.Orphans == False, op.Policy == "Background":
	case first >= 0:
		want = stored[first]
	case k.Orphans:
		want = Orphan
	}
	next := slices.DeleteFunc(slices.Clone(stored), isCollectors)
	if want == "" {
		return next
	}
	if len(stored) == len(next)+1 && stored[first] == want {
		return stored
	}
	return append(next, want)
}

// collection executes a DELETE of a collection as if no other client sent requests during it. In fact the items are
// deleted one by one: Explain accounts for that.
func collection(s State, op Op) (State, Response, []Event) {
	if !validOptions(op) {
		return s, invalid(), nil
	}
	items := s.list(op)
	var events []Event
	for _, o := range items {
		var more []Event
		s, _, more = remove(s, op.item(o.Key))
		events = append(events, more...)
	}
	return s, Response{Code: 200, Items: items}, events // C-74
}

// list returns the items that the DELETE of a collection lists (C-72).
func (s State) list(op Op) []Object {
	var items []Object
	for _, k := range s.Keys() {
		o := s[k]
		if k.Kind == op.Key.Kind && k.Namespace == op.Key.Namespace && (op.Label == "" || o.Label == op.Label) {
			items = append(items, o)
		}
	}
	return items
}

// item returns the DELETE of one item of a collection (C-78).
func (o Op) item(k Key) Op {
	o.Verb, o.Key, o.Label = Delete, k, ""
	return o
}
