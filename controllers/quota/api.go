package quota

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// API is the controller's interface to an API server. Its methods may be called from any goroutine. These errors of
// k8s.io/apimachinery/pkg/api/errors have a meaning: NotFound, Conflict.
type API interface {
	Follower
	// Quotas returns the quotas of a namespace, from a read that sees every write acknowledged before it.
	Quotas(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error)
	// Objects returns the objects of a resource in a namespace, from such a read, as package usage measures them; nil
	// ones if it only counts them. NotFound means that the resource isn't served.
	Objects(ctx context.Context, r schema.GroupResource, namespace string) ([]runtime.Object, error)
	// UpdateStatus writes the status; Conflict if the resourceVersion is stale.
	UpdateStatus(ctx context.Context, q *corev1.ResourceQuota) error
}

// Follower sends changes.
type Follower interface {
	// Follow calls sink, from one goroutine, with an event of type Exists for every quota, and then with changes, until
	// ctx is done. It may start again from the beginning. It returns early, with an error, if it can't continue; it is
	// then called again.
	Follow(ctx context.Context, sink func(Event)) error
}

// EventType is the type of an event.
type EventType uint8

// The types of events.
const (
	// Exists: the quota exists, or was written.
	Exists EventType = iota
	// Gone: the quota was deleted.
	Gone
	// Content: an object in the namespace was deleted, or changed so that it may use less. It is sent only for
	// namespaces with quotas.
	Content
)

// Event is a change, or a part of the state at the beginning.
type Event struct {
	Type      EventType
	Namespace string
	// Name is the quota's name; empty for Content.
	Name string
	// Unknown says that the quota's status doesn't have its spec yet.
	Unknown bool
}
