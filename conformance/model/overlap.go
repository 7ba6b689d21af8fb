package model

// Overlaps reports whether the collector may begin to work on what a resolved deletecollection has deleted while it
// still deletes the rest: it is one DELETE after the other (C-74), and which of them the collector is faster than
// would show. Each but the last is looked at; any of them may be the last.
func Overlaps(s State, op Op) bool {
	if op.Verb != Collection || op.DryRun {
		return false
	}
	items := s.list(op)
	if len(items) < 2 {
		return false
	}
	for last := range items {
		some := s
		for i, o := range items {
			if i != last {
				some, _, _ = remove(some, op.item(o.Key))
			}
		}
		if len(Steps(some)) > 0 {
			return true
		}
	}
	return false
}
