package finalizers

import "slices"

// The values of DeleteOptions.propagationPolicy.
const (
	propagateOrphan     = "Orphan"
	propagateForeground = "Foreground"
	propagateBackground = "Background"
)

// collected returns the finalizers that a DELETE leaves on an object (C-21). They are a new slice.
func collected(stored []string, p Policy, o Options) []string {
	chosen := choose(stored, p, o)
	next := make([]string, 0, len(stored)+1)
	for _, f := range stored {
		if !isCollectors(f) {
			next = append(next, f)
		}
	}
	if chosen != "" {
		next = append(next, chosen)
	}
	if sameSet(stored, next) {
		return slices.Clone(stored) // C-21: in the stored order, so that nothing counts as changed
	}
	return next
}

// choose returns the collector's finalizer that a DELETE adds, or "" for none (C-20).
func choose(stored []string, p Policy, o Options) string {
	if p == Unsupported { // C-20 (1)
		return ""
	}
	if o.OrphanDependents != nil { // C-20 (2)
		if *o.OrphanDependents {
			return Orphan
		}
		return ""
	}
	switch o.PropagationPolicy { // C-20 (3)
	case propagateOrphan:
		return Orphan
	case propagateForeground:
		return Foreground
	case propagateBackground:
		return ""
	}
	if i := slices.IndexFunc(stored, isCollectors); i >= 0 { // C-20 (4)
		return stored[i]
	}
	if p == OrphanDependents { // C-20 (5)
		return Orphan
	}
	return ""
}

func isCollectors(f string) bool { return f == Orphan || f == Foreground }

// sameSet compares without regard to order and duplicates, in linear time: an object may have tens of thousands of
// finalizers.
func sameSet(a, b []string) bool {
	return slices.Equal(a, b) || within(a, b) && within(b, a)
}

// within reports whether every element of a is in b.
func within(a, b []string) bool {
	set := make(map[string]struct{}, len(b))
	for _, f := range b {
		set[f] = struct{}{}
	}
	return !slices.ContainsFunc(a, func(f string) bool {
		_, ok := set[f]
		return !ok
	})
}
