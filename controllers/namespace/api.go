package namespace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// API is the controller's interface to an API server. Its methods may be called from any goroutine. These errors of
// k8s.io/apimachinery/pkg/api/errors have a meaning: NotFound, Conflict, MethodNotSupported.
type API interface {
	// Follow calls sink, from one goroutine, with an event of type Exists for each namespace, and then with changes,
	// until ctx is done. It may start again from the beginning. It returns early, with an error, if it can't continue;
	// it is then called again.
	Follow(ctx context.Context, sink func(Event)) error
	// Get returns the stored namespace, at least as new as every event that was sent before.
	Get(ctx context.Context, name string) (*corev1.Namespace, error)
	// UpdateStatus and Finalize write the subresources; Conflict if the resourceVersion is stale.
	UpdateStatus(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error)
	Finalize(ctx context.Context, ns *corev1.Namespace) (*corev1.Namespace, error)
	// Resources returns the namespaced types whose objects can be deleted, each once, in one of its versions. The error is
	// about types that are not known.
	Resources() ([]Resource, error)
	// Delete deletes an object or, without a name, all of a type, with propagationPolicy=Background (E-10, E-11). NotFound
	// and MethodNotSupported without a name mean that deletecollection isn't served.
	Delete(ctx context.Context, r Resource, namespace, name string) error
	// Metadata returns the objects of a type in a namespace, from a read that sees every write acknowledged before it,
	// and a revision that is not newer than the read. NotFound and MethodNotSupported mean that the type can't be
	// listed, and so has no objects to count.
	Metadata(ctx context.Context, r Resource, namespace string) (items []Item, revision int64, err error)
}

// EventType is the type of an event.
type EventType uint8

// The types of events.
const (
	// Exists: the namespace exists; Deleting reports whether it is being deleted. Sent for each write of it.
	Exists EventType = iota
	// Gone: the namespace was removed.
	Gone
	// Removed: an object in the namespace was removed.
	Removed
)

// Event is a change, or a part of the state at the beginning.
type Event struct {
	Type      EventType
	Namespace string
	// Revision is the revision of the change.
	Revision int64
	// Deleting is set if an existing namespace has a deletionTimestamp.
	Deleting bool
}

// Resource is a namespaced type.
type Resource struct {
	schema.GroupVersionResource
	// Collection reports whether deletecollection is served, Elsewhere whether another server has the type.
	Collection, Elsewhere bool
}

// pods is the type that is deleted first (E-09).
var pods = schema.GroupResource{Resource: "pods"}

// Item is one object.
type Item struct {
	Name       string
	Finalizers []string
	// Unreadable is the reason why the stored value can't be decoded, with its key; empty if it can.
	Unreadable string
	// Deleting is set if the object has a deletionTimestamp.
	Deleting bool
	// Phase and GraceSeconds (spec.terminationGracePeriodSeconds) are those of a pod.
	Phase        corev1.PodPhase
	GraceSeconds *int64
}
