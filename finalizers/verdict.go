package finalizers

import (
	"fmt"
	"slices"
	"time"
)

// Step states what to do with the stored object.
type Step uint8

// The steps.
const (
	// Nothing leaves the object as it is stored, with its resourceVersion.
	Nothing Step = iota
	// Store writes the verdict's metadata (for an update: the submitted object with it).
	Store
	// Remove removes the object in one step, without writing it first (C-41, B-24).
	Remove
	// StoreThenRemove writes the verdict's metadata and then removes the object, so that watchers see both (C-32). A
	// precondition on the resourceVersion applies to the first write and not to the second (C-14).
	StoreThenRemove
)

// String returns the step's name.
func (s Step) String() string { return [...]string{"Nothing", "Store", "Remove", "StoreThenRemove"}[s] }

// Verdict is the complete effect of a write on an object.
type Verdict struct {
	Step Step

	// The metadata that Store and StoreThenRemove write. With other steps these are the stored values, so that writing
	// them changes nothing.

	Finalizers []string
	// Deletion is metadata.deletionTimestamp, in whole seconds UTC; zero means live.
	Deletion           time.Time
	GracePeriodSeconds *int64
	Generation         int64

	// MarkTerminating reports whether a live object becomes a terminating one by this write. The caller also sets what
	// the kind then shows (a namespace's phase, a CRD's condition).
	MarkTerminating bool
	// Accepted reports whether the response's code is 202 instead of 200 (C-61).
	Accepted bool
	// Conflict, if set, is why the request fails; Step is Nothing.
	Conflict *Conflict
}

// ConflictKind is the precondition that did not hold.
type ConflictKind uint8

// The kinds of conflicts.
const (
	UIDPrecondition ConflictKind = iota
	RVPrecondition
)

// String returns the kind's name.
func (k ConflictKind) String() string { return [...]string{"UIDPrecondition", "RVPrecondition"}[k] }

// Conflict is a precondition that did not hold.
type Conflict struct {
	Kind ConflictKind
	// Want is the precondition's value, Have the stored object's.
	Want, Have string
	// ByResource reports whether the error names the resource ("namespaces") instead of the kind, as kinds with a check
	// of their own do (C-13); the message differs, too.
	ByResource bool
	// Lower reports whether this message begins in lower case, as that of CustomResourceDefinitions does since v1.37
	// (V-071).
	Lower bool
}

// Cause returns the message that follows `Operation cannot be fulfilled on <what> "<name>": ` (0-05).
func (c Conflict) Cause() string {
	field, happened := "UID", "deleted and then recreated"
	if c.Kind == RVPrecondition {
		field, happened = "ResourceVersion", "modified"
	}
	if c.ByResource { // C-13
		first := "Precondition"
		if c.Lower {
			first = "precondition"
		}
		return fmt.Sprintf("%s failed: %s in precondition: %s, %s in object meta: %s", first, field, c.Want, field, c.Have)
	}
	return fmt.Sprintf("the %s in the precondition (%s) does not match the %s in record (%s). The object might have been %s",
		field, c.Want, field, c.Have, happened) // C-10, C-11
}

// unchanged returns the verdict that changes nothing.
func unchanged(obj Object) Verdict {
	return Verdict{
		Finalizers:         slices.Clone(obj.Finalizers),
		Deletion:           obj.Deletion,
		GracePeriodSeconds: copied(obj.GracePeriodSeconds),
		Generation:         obj.Generation,
	}
}

// same reports whether storing v would change nothing in obj.
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
