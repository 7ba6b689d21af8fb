package finalizers

import (
	"slices"
	"time"
)

// Delete decides what a DELETE does to obj.
func Delete(obj Object, k Kind, o Options, now time.Time) Verdict {
	if c := conflict(obj, k, o); c != nil {
		v := unchanged(obj)
		v.Conflict = c
		return v
	}
	v := decide(obj, k, o, now)
	kept := v.Step == Nothing || v.Step == Store
	v.Accepted = kept && o.OrphanDependents != nil && !*o.OrphanDependents // C-61
	v.MarkTerminating = obj.Deletion.IsZero() && !v.Deletion.IsZero()
	return v
}

// conflict checks the preconditions: first the uid, then the resourceVersion (C-10, C-11). A namespace's DELETE implies
// a precondition (C-80) with obj's own uid, which always holds.
func conflict(obj Object, k Kind, o Options) *Conflict {
	c := Conflict{ByResource: k.Namespace || k.Cleanup != "", Lower: k.Cleanup != ""} // C-13
	switch {
	case o.UID != nil && *o.UID != obj.UID:
		c.Kind, c.Want, c.Have = UIDPrecondition, *o.UID, obj.UID
	case o.ResourceVersion != nil && *o.ResourceVersion != obj.ResourceVersion:
		c.Kind, c.Want, c.Have = RVPrecondition, *o.ResourceVersion, obj.ResourceVersion
	default:
		return nil
	}
	return &c
}

func decide(obj Object, k Kind, o Options, now time.Time) Verdict {
	live := obj.Deletion.IsZero()
	switch {
	case k.Namespace && live:
		return beginNamespace(obj, o, now)
	case k.Namespace && len(obj.SpecFinalizers) > 0: // C-81
		return unchanged(obj)
	case k.Cleanup != "" && live:
		return beginCleanup(obj, k, now)
	}
	return generic(obj, k, o, now) // C-82 and the second DELETE of C-84 too
}

// beginNamespace decides the first DELETE of a namespace (C-80). Unlike in C-20, orphanDependents=false means
// Foreground here. Generation and the grace period are unchanged (J-47).
func beginNamespace(obj Object, o Options, now time.Time) Verdict {
	v := unchanged(obj)
	v.Step, v.Deletion = Store, whole(now)
	if o.OrphanDependents == nil && !isPolicy(o.PropagationPolicy) {
		return v
	}
	var want string
	switch {
	case o.OrphanDependents != nil && *o.OrphanDependents, o.PropagationPolicy == propagateOrphan:
		want = Orphan
	case o.OrphanDependents != nil, o.PropagationPolicy == propagateForeground:
		want = Foreground
	}
	// Any order is correct. Finalizers that stay keep their present order.
	v.Finalizers = slices.DeleteFunc(v.Finalizers, func(f string) bool { return isCollectors(f) && f != want })
	if want != "" && !slices.Contains(v.Finalizers, want) {
		v.Finalizers = append(v.Finalizers, want)
	}
	return v
}

func isPolicy(p string) bool {
	return p == propagateOrphan || p == propagateForeground || p == propagateBackground
}

// beginCleanup decides the first DELETE of a kind with a cleanup finalizer, which ignores the policy (C-84, J-33).
// Generation and the grace period are unchanged (J-47).
func beginCleanup(obj Object, k Kind, now time.Time) Verdict {
	v := unchanged(obj)
	v.Step, v.Deletion = Store, whole(now)
	if !slices.Contains(v.Finalizers, k.Cleanup) {
		v.Finalizers = append(v.Finalizers, k.Cleanup)
	}
	return v
}

// generic decides a DELETE of an object of any other kind.
func generic(obj Object, k Kind, o Options, now time.Time) Verdict {
	v := unchanged(obj)
	g := decideGrace(obj, k, o, now)
	if g.mode == pending { // C-33, J-32: the policy has no effect either
		return v
	}
	next := collected(obj.Finalizers, k.Policy, o) // C-26: on a terminating object as well
	if g.mode == graceful {
		v.Step, v.Finalizers = Store, next
		v.Deletion, v.GracePeriodSeconds = g.deletionTime, &g.period
		if len(next) == 0 && g.period == 0 { // C-32, C-36
			v.Step = StoreThenRemove
		}
	} else {
		if len(next) == 0 {
			// C-41. A resourceVersion precondition, if any, held. The collector's finalizer and the object are removed
			// together, without a write for the finalizer (J-20).
			v.Step = Remove
			return v
		}
		v.Finalizers = next
		v.mark(now)
	}
	if obj.Deletion.IsZero() && obj.Generation > 0 { // C-32, C-40, B-38
		v.Generation++
	}
	if v.same(obj) { // C-42
		v.Step = Nothing
	}
	return v
}

// mark sets the metadata of an object that only finalizers keep from now on (C-40, C-44).
func (v *Verdict) mark(now time.Time) {
	v.Step = Store
	if v.Deletion.IsZero() || v.Deletion.After(now) {
		v.Deletion = whole(now)
	}
	v.GracePeriodSeconds = new(int64)
}
