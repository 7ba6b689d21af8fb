package quota

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// API is what the controller needs of an API server. Its methods may be called from any goroutine.
// Errors are those of k8s.io/apimachinery/pkg/api/errors where a meaning is given: NotFound, Conflict.
type API interface {
	Follower
	// Quotas returns the quotas of a namespace, from a read that sees every write acknowledged before it.
	Quotas(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error)
	// Objects returns the objects of a resource in a namespace, from such a read, as package usage
	// measures them; nil ones if it only counts them. NotFound means that no such resource is served.
	Objects(ctx context.Context, r schema.GroupResource, namespace string) ([]runtime.Object, error)
	// UpdateStatus writes the status; Conflict if the resourceVersion is stale.
	UpdateStatus(ctx context.Context, q *corev1.ResourceQuota) error
}

// Follower tells of changes.
type Follower interface {
	// Follow calls sink, from one goroutine, with an event of type Exists for every quota there is, and
	// then with what changes, until ctx is done. It may start again from the beginning. It
	// returns early, with an error, if it can't go on; it is then called again.
	Follow(ctx context.Context, sink func(Event)) error
}

// EventType says what an event tells.
type EventType uint8

// The types of events.
const (
	// Exists: the quota is there, or was written.
	Exists EventType = iota
	// Gone: the quota was removed.
	Gone
	// Content: something in the namespace was removed, or changed so that it may count for less. It is
	// told only of namespaces of which a quota was told.
	Content
)

// Event is a change, or a part of the state at the beginning.
type Event struct {
	Type      EventType
	Namespace string
	// Name is that of the quota; empty for Content.
	Name string
	// Unknown says that the quota's status doesn't know its spec.
	Unknown bool
}
