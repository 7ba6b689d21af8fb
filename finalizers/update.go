package finalizers

import (
	"slices"
	"time"
)

// Update decides what a write that turns stored into updated means (PUT, PATCH, apply and the
// subresources): store it or remove the object. updated has passed validation (B-12, B-14).
//
// The verdict's metadata is that of updated, except that an update neither begins, ends nor moves
// a deletion (B-11). The time plays no part: what counts is the recorded grace period, not whether
// it has run out (B-21).
func Update(stored, updated Object, _ time.Time) Verdict {
	if removes(stored, updated) {
		v := unchanged(stored) // B-24: what was submitted is never written
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

// removes reports whether the update takes away the last thing that held a dying object (B-20).
// That also holds if nothing was there to take away any more (B-22).
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
