package finalizers

import (
	"fmt"
	"slices"
	"time"
)

// check returns the first guarantee of doc.go that a verdict on a DELETE breaks.
func check(obj Object, k Kind, v Verdict, now time.Time) error {
	if err := checkAny(obj, v); err != nil {
		return err
	}
	later := obj.Deletion
	if k.Graceful || later.IsZero() || now.Before(later) {
		later = maxTime(later, now)
	}
	if k.Graceful && obj.Deletion.IsZero() {
		later = v.Deletion // a period begins
	}
	switch {
	case v.Deletion.After(later):
		return fmt.Errorf("the deletion timestamp moved from %v to %v at %v (C-44)", obj.Deletion, v.Deletion, now)
	case v.Conflict != nil && v.Step != Nothing:
		return fmt.Errorf("a conflict, and yet %v", v.Step)
	case v.Accepted && (v.Step == Remove || v.Step == StoreThenRemove):
		return fmt.Errorf("202 for a removed object (C-61)")
	case v.Step == StoreThenRemove && !k.Graceful:
		return fmt.Errorf("%v for a kind without grace (C-41)", v.Step)
	case v.MarkTerminating != (obj.Deletion.IsZero() && (v.Step == Store || v.Step == StoreThenRemove)):
		return fmt.Errorf("MarkTerminating is %v", v.MarkTerminating)
	case v.Generation > obj.Generation &&
		(!obj.Deletion.IsZero() || v.Generation > obj.Generation+1 || obj.Generation == 0):
		return fmt.Errorf("generation went from %d to %d (B-38)", obj.Generation, v.Generation)
	}
	return nil
}

// updateTo returns the state after an update, as a verdict: an update can't begin, end or postpone a deletion (B-11).
func updateTo(stored, updated Object) Verdict {
	v := unchanged(stored)
	if v.Step = Update(stored, updated); v.Step == Store {
		v.Finalizers, v.Generation = slices.Clone(updated.Finalizers), max(stored.Generation, updated.Generation) // B-15
	}
	return v
}

// checkUpdate is check for an update.
func checkUpdate(obj, updated Object, v Verdict) error {
	if err := checkAny(obj, v); err != nil {
		// An update without a change also returns Store; the caller finds later that it needs no write (B-17).
		if v.Step != Store || !v.same(obj) {
			return err
		}
	}
	if v.Step == Remove && len(updated.Finalizers)+len(updated.SpecFinalizers) > 0 {
		return fmt.Errorf("removed with finalizers %v, %v (B-20)", updated.Finalizers, updated.SpecFinalizers)
	}
	return nil
}

func checkAny(obj Object, v Verdict) error {
	both := func(f []string) bool { return slices.Contains(f, Orphan) && slices.Contains(f, Foreground) }
	switch {
	case !obj.Deletion.IsZero() && v.Deletion.IsZero():
		return fmt.Errorf("terminating became live (C-90)")
	case v.Generation < obj.Generation:
		return fmt.Errorf("generation went from %d to %d (B-15)", obj.Generation, v.Generation)
	case both(v.Finalizers) && !both(obj.Finalizers):
		return fmt.Errorf("both finalizers of the collector: %v (A-30)", v.Finalizers)
	case v.Step == Store && v.same(obj):
		return fmt.Errorf("a write that changes nothing (C-42)")
	case (v.Step == Nothing || v.Step == Remove) && !v.same(obj):
		return fmt.Errorf("%v with changed metadata", v.Step)
	case v.Deletion.Nanosecond() != 0:
		return fmt.Errorf("deletion timestamp %v has a fraction", v.Deletion)
	case v.GracePeriodSeconds != nil && *v.GracePeriodSeconds < 0 && !equal(v.GracePeriodSeconds, obj.GracePeriodSeconds):
		return fmt.Errorf("grace period %d stored (C-30)", *v.GracePeriodSeconds)
	}
	return nil
}

// checkRepeat repeats a DELETE that stored something: it must change nothing (C-42).
func checkRepeat(obj Object, k Kind, o Options, v Verdict, now time.Time) error {
	first := obj.Deletion.IsZero()
	if v.Step != Store || first && (k.Namespace && len(obj.SpecFinalizers) == 0 || k.Cleanup != "") {
		return nil // the second DELETE of these takes another path (C-82, C-84)
	}
	if n := obj.GracePeriodSeconds; k.Graceful && n != nil && obj.Deletion.Add(-seconds(noNegative(*n))).After(now) {
		return nil // a period that begins in the future: clocks ran backwards
	}
	o.ResourceVersion = nil
	next := stored(obj, v)
	if again := Delete(next, k, o, now); again.Step != Nothing {
		return fmt.Errorf("%s, and repeated %s (C-42)", describe(v), describe(again))
	}
	return nil
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
