package finalizers

import (
	"fmt"
	"slices"
	"time"
)

// Step says what to do with the stored object.
type Step uint8

// The steps.
const (
	// Nothing leaves the object as it is stored, with its resourceVersion.
	Nothing Step = iota
	// Store writes the verdict's metadata (for an update: the submitted object with it).
	Store
	// Remove removes the object in one step, without writing it first (C-41, B-24).
	Remove
	// StoreThenRemove writes the verdict's metadata and then removes what was written, so that
	// watchers see both (C-32). A precondition on the resourceVersion held before the first write
	// and does not apply to the second (C-14).
	StoreThenRemove
)

// String returns the step's name.
func (s Step) String() string {
	switch s {
	case Nothing:
		return "Nothing"
	case Store:
		return "Store"
	case Remove:
		return "Remove"
	case StoreThenRemove:
		return "StoreThenRemove"
	}
	return fmt.Sprintf("Step(%d)", uint8(s))
}

// Verdict is everything that a write means for an object.
type Verdict struct {
	Step Step

	// What Store and StoreThenRemove write over the object's metadata. With other steps these
	// repeat what is stored, so that writing them over it changes nothing.

	Finalizers []string
	// Deletion is metadata.deletionTimestamp, in whole seconds UTC; zero means live.
	Deletion           time.Time
	GracePeriodSeconds *int64
	Generation         int64

	// MarkTerminating says that a live object becomes a terminating one by what is stored: the
	// caller also sets what the kind shows then (a namespace's phase, a CRD's condition).
	MarkTerminating bool
	// Accepted says to answer 202 in place of 200 (C-61).
	Accepted bool
	// Refused, if set, is why the request fails; Step is Nothing.
	Refused *Refusal
}

// RefusalKind says which precondition did not hold.
type RefusalKind uint8

// The kinds of refusals.
const (
	UIDPrecondition RefusalKind = iota
	RVPrecondition
)

// String returns the kind's name.
func (k RefusalKind) String() string {
	switch k {
	case UIDPrecondition:
		return "UIDPrecondition"
	case RVPrecondition:
		return "RVPrecondition"
	}
	return fmt.Sprintf("RefusalKind(%d)", uint8(k))
}

// Refusal is a precondition that did not hold: a Conflict.
type Refusal struct {
	Kind RefusalKind
	// Want is the precondition's value, Have the stored object's.
	Want, Have string
	// ByResource says that the error names the resource ("namespaces") and not the kind, as the
	// kinds do that check before everybody else (C-13); the text differs too.
	ByResource bool
}

// Cause returns the text that follows `Operation cannot be fulfilled on <what> "<name>": ` (0-05).
func (r Refusal) Cause() string {
	field, happened := "UID", "deleted and then recreated"
	if r.Kind == RVPrecondition {
		field, happened = "ResourceVersion", "modified"
	}
	if r.ByResource { // C-13
		return fmt.Sprintf("Precondition failed: %s in precondition: %s, %s in object meta: %s", field, r.Want, field, r.Have)
	}
	return fmt.Sprintf("the %s in the precondition (%s) does not match the %s in record (%s). The object might have been %s",
		field, r.Want, field, r.Have, happened) // C-10, C-11
}

// unchanged is the verdict that leaves obj alone.
func unchanged(obj Object) Verdict {
	return Verdict{
		Finalizers:         slices.Clone(obj.Finalizers),
		Deletion:           obj.Deletion,
		GracePeriodSeconds: copied(obj.GracePeriodSeconds),
		Generation:         obj.Generation,
	}
}

// same reports whether storing v would change nothing of obj.
func (v Verdict) same(obj Object) bool {
	return slices.Equal(v.Finalizers, obj.Finalizers) &&
		v.Deletion.Equal(obj.Deletion) &&
		equal(v.GracePeriodSeconds, obj.GracePeriodSeconds) &&
		v.Generation == obj.Generation
}

func copied(n *int64) *int64 {
	if n == nil {
		return nil
	}
	c := *n
	return &c
}

func equal(a, b *int64) bool {
	return a == b || a != nil && b != nil && *a == *b
}
