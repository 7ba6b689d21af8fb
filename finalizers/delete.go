package finalizers

import (
	"slices"
	"time"
)

// Delete decides what DELETE means for obj.
func Delete(obj Object, k Kind, o Options, now time.Time) Verdict {
	if r := refuse(obj, k, o); r != nil {
		v := unchanged(obj)
		v.Refused = r
		return v
	}
	v := decide(obj, k, o, now)
	kept := v.Step == Nothing || v.Step == Store
	v.Accepted = kept && o.OrphanDependents != nil && !*o.OrphanDependents // C-61
	v.MarkTerminating = obj.Deletion.IsZero() && !v.Deletion.IsZero()
	return v
}

// refuse checks the preconditions, that of the uid first (C-10, C-11). The uid that a namespace's
// DELETE implies (C-80) is that of obj and holds.
func refuse(obj Object, k Kind, o Options) *Refusal {
	byResource := k.Namespace || k.Cleanup != "" // C-13
	if o.UID != nil && *o.UID != obj.UID {
		return &Refusal{Kind: UIDPrecondition, Want: *o.UID, Have: obj.UID, ByResource: byResource}
	}
	if o.ResourceVersion != nil && *o.ResourceVersion != obj.ResourceVersion {
		return &Refusal{Kind: RVPrecondition, Want: *o.ResourceVersion, Have: obj.ResourceVersion, ByResource: byResource}
	}
	return nil
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

// beginNamespace is the first DELETE of a namespace (C-80). Unlike C-20, orphanDependents=false
// means Foreground here. Generation and the grace period stay (J-47).
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
	// The order is unspecified; what is there stays in its place.
	v.Finalizers = slices.DeleteFunc(v.Finalizers, func(f string) bool { return isCollectors(f) && f != want })
	if want != "" && !slices.Contains(v.Finalizers, want) {
		v.Finalizers = append(v.Finalizers, want)
	}
	return v
}

func isPolicy(p string) bool {
	return p == propagateOrphan || p == propagateForeground || p == propagateBackground
}

// beginCleanup is the first DELETE of a kind with a cleanup finalizer, which ignores the policy
// (C-84, J-33). Generation and the grace period stay (J-47).
func beginCleanup(obj Object, k Kind, now time.Time) Verdict {
	v := unchanged(obj)
	v.Step, v.Deletion = Store, whole(now)
	if !slices.Contains(v.Finalizers, k.Cleanup) {
		v.Finalizers = append(v.Finalizers, k.Cleanup)
	}
	return v
}

// generic is DELETE for every kind without a rule of its own.
func generic(obj Object, k Kind, o Options, now time.Time) Verdict {
	v := unchanged(obj)
	g := judgeGrace(obj, k, o, now)
	if g.mode == pending { // C-33, J-32: not even the policy counts
		return v
	}
	next := collected(obj.Finalizers, k.Policy, o) // C-26: on a terminating object as well
	if g.mode == graceful {
		v.Step, v.Finalizers = Store, next
		v.Deletion, v.GracePeriodSeconds = g.deletion, &g.period
		if len(next) == 0 && g.period == 0 { // C-32, C-36
			v.Step = StoreThenRemove
		}
	} else {
		if len(next) == 0 {
			// C-41. A resourceVersion precondition held; that a collector's finalizer goes with
			// the object needs no write of its own (J-20).
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

// mark makes v say that only finalizers hold the object from now on (C-40, C-44).
func (v *Verdict) mark(now time.Time) {
	v.Step = Store
	if v.Deletion.IsZero() || v.Deletion.After(now) {
		v.Deletion = whole(now)
	}
	v.GracePeriodSeconds = new(int64)
}
