package finalizers

// Update decides whether a write that changes stored to updated (PUT, PATCH or apply, also of a subresource) is stored,
// or removes the object: Store or Remove. updated has passed validation (B-12, B-14).
//
// It removes an object that is terminating, and has no finalizer and no grace period (B-20). The object need not have
// had a finalizer before (B-22). An update does not remove an object with a stored grace period, even if that is over
// (B-21). So the current time has no effect. What is removed is the stored object: the submitted one is never written
// (B-24).
func Update(stored, updated Object) Step {
	switch {
	case stored.Deletion.IsZero():
	case stored.GracePeriodSeconds != nil && *stored.GracePeriodSeconds != 0: // B-21
	case len(updated.SpecFinalizers) > 0: // B-23
	case len(updated.Finalizers) == 0:
		return Remove
	}
	return Store
}
