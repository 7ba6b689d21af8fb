package gc

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// API sends requests with the collector's identity, system:serviceaccount:kube-system:generic-garbage-collector (D-02).
// Its methods are called from many goroutines. Errors are API errors (k8s.io/apimachinery/pkg/api/errors); outcomeOf
// states what they mean to the collector.
type API interface {
	// Delete deletes an object.
	Delete(ctx context.Context, d DeleteRequest) error
	// RemoveOwners removes owner references from the newest state of an object, regardless of what else has changed in
	// it (D-50, D-51). If there are none, it returns nil. Upstream sends a strategic merge patch, or a JSON merge patch
	// for kinds without strategic merge (D-52, J-43). A request inside the process needs no patch.
	RemoveOwners(ctx context.Context, r graph.RemoveOwners) error
	// Unblock sets blockOwnerDeletion to false in those of the references that the newest state still has (D-53, J-14).
	Unblock(ctx context.Context, u graph.Unblock) error
	// RemoveFinalizer removes one of the collector's finalizers from an object; removing the last finalizer removes the
	// object (B-20, D-44). If the finalizer is absent, it returns nil.
	RemoveFinalizer(ctx context.Context, r graph.RemoveFinalizer) error
	// CreateEvent stores a new Event. It returns AlreadyExists if an Event has the name.
	CreateEvent(ctx context.Context, e *corev1.Event) error
	// CountEvent increments the count of the stored Event of e's name, and sets its last time to e's.
	CountEvent(ctx context.Context, e *corev1.Event) error
}

// Object identifies one state of one object: its key, kind, uid, and the revision on which the decision was made. Kind
// and APIVersion are those of the version that the table of Kinds marks as preferred, if any.
type Object = graph.Ref

// DeleteRequest is a DELETE with options and guards.
type DeleteRequest struct {
	// The UID and Revision of Object are preconditions; another revision or uid causes a conflict.
	Object Object
	Policy metav1.DeletionPropagation
	// Guards are the keys of all owners that the decision depends on, with their revisions (0: it does not exist). The
	// same transaction must check them; a guard that doesn't hold causes a conflict.
	Guards []storage.Guard
	// Cause is the reason for users to see. It has no other effect.
	Cause graph.Cause
}

// Timeline is the store's state and its changes, all types in one order. *cache.Cache implements it.
type Timeline interface {
	// Ready is closed when there is a first state.
	Ready() <-chan struct{}
	// Everything returns the newest state.
	Everything() (rev int64, all []*cache.Snapshot)
	// Timeline returns all events after rev. Errors: cache.ErrExpired.
	Timeline(rev int64) (*cache.Watcher, error)
}

// Kinds is the table of types.
type Kinds interface {
	// Kinds returns one entry for each kind that is served and stored, in every served version, and a channel that is
	// closed when the table is no longer the newest. If a newer table is in force at a revision, the channel is closed
	// before the Timeline shows an event of that revision. If a kind is served only while its collection is being
	// removed, it may disappear before or after its objects.
	Kinds() (table []graph.Kind, changed <-chan struct{})
}
