package finalizers

import "time"

// The finalizers of the garbage collector; other components use all other names.
const (
	Orphan     = "orphan"
	Foreground = "foregroundDeletion"
)

// Policy is the default of a kind when a DELETE names no propagation policy (C-23).
type Policy uint8

// The default policies.
const (
	DeleteDependents Policy = iota
	OrphanDependents
	// Unsupported kinds (events) never carry a finalizer of the collector.
	Unsupported
)

// Object has the fields of a stored object that a decision depends on.
type Object struct {
	UID             string
	ResourceVersion string
	Generation      int64
	Finalizers      []string
	// SpecFinalizers is a namespace's spec.finalizers; empty for each other kind.
	SpecFinalizers []string
	// Deletion is metadata.deletionTimestamp; zero means live.
	Deletion time.Time
	// GracePeriodSeconds is metadata.deletionGracePeriodSeconds.
	GracePeriodSeconds *int64
}

// Kind has the properties of the object's kind that a decision depends on, from the table of types.
type Kind struct {
	Policy Policy
	// Graceful kinds (pods) are deleted with a grace period.
	Graceful bool
	// DefaultGraceSeconds is a graceful object's own grace period (spec.terminationGracePeriodSeconds).
	DefaultGraceSeconds *int64
	// GraceForbidden forces the period to 0: an unscheduled or finished pod (C-30).
	GraceForbidden bool
	// Namespace selects the first DELETE of a namespace (C-80).
	Namespace bool
	// Cleanup is a finalizer that a first DELETE of this kind appends, without regard to the propagation policy, as for
	// CustomResourceDefinitions (C-84); empty for none.
	Cleanup string
}

// Options are the fields of DeleteOptions that a decision depends on; they have been validated (C-05, C-06).
type Options struct {
	GracePeriodSeconds *int64
	OrphanDependents   *bool
	// PropagationPolicy is Orphan, Foreground, Background or empty.
	PropagationPolicy string
	// UID and ResourceVersion are preconditions; nil means none.
	UID, ResourceVersion *string
}
