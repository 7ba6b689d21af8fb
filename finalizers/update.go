package finalizers

import (
	"slices"
	"time"
)

// Update decides whether a write that changes stored to updated (PUT, PATCH or apply, also of a subresource) stores or
// removes the object. updated has passed validation (B-12, B-14).
//
// An update can't begin, end or postpone a deletion (B-11). It does not remove an object with a stored grace period,
// even if that is over (B-21). So the current time has no effect.
func Update(stored, updated Object, _ time.Time) Verdict {
	if removes(stored, updated) {
		v := unchanged(stored) // B-24: the submitted object is never written
		v.Step = Remove
		return v
	}
	return Verdict{
		Step:               Store,
		Finalizers:         slices.Clone(updated.Finalizers),
		Deletion:           stored.Deletion,
		GracePeriodSeconds: copied(stored.GracePeriodSeconds),
		Generation:         max(stored.Generation, updated.Generation), // B-15
	}
}

// removes reports whether the update removes the object: it is terminating, and has no finalizer and no grace period
// (B-20). It need not have had a finalizer before (B-22).
func removes(stored, updated Object) bool {
	switch {
	case stored.Deletion.IsZero():
		return false
	case stored.GracePeriodSeconds != nil && *stored.GracePeriodSeconds != 0: // B-21
		return false
	case len(updated.SpecFinalizers) > 0: // B-23
		return false
	}
	return len(updated.Finalizers) == 0
}
