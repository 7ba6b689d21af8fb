package finalizers

import (
	"slices"
	"time"
)

// Update decides what a write that turns stored into updated does (PUT, PATCH, apply and the subresources): store or
// remove the object. updated has passed validation (B-12, B-14).
//
// The verdict's metadata is that of updated, except that an update neither begins, ends nor moves a deletion (B-11).
// The time has no effect: what counts is the stored grace period, not whether it is over (B-21).
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

// removes reports whether nothing holds the terminating object after the update, so that it is removed (B-20). That is
// also so if nothing held it before (B-22).
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
