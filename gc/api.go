package gc

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// API carries requests out with the collector's identity, system:serviceaccount:kube-system:generic-garbage-collector
// (D-02). Its methods are called from many goroutines. Errors are API errors
// (k8s.io/apimachinery/pkg/api/errors); what they mean to the collector is said in outcomeOf.
type API interface {
	// Delete deletes an object.
	Delete(ctx context.Context, d DeleteRequest) error
	// RemoveOwners takes owner references out of an object. None there to take is no error.
	RemoveOwners(ctx context.Context, r RemoveOwnersRequest) error
	// Unblock sets blockOwnerDeletion to false where it is true, in the references that the object has by
	// then (J-14), and returns the object's revision.
	Unblock(ctx context.Context, u UnblockRequest) (revision int64, err error)
	// RemoveFinalizer takes one of the collector's finalizers off an object; the last one removes it
	// (B-20). None there to take is no error.
	RemoveFinalizer(ctx context.Context, r RemoveFinalizerRequest) error
	// CreateEvent stores a new Event; one of that name is an AlreadyExists error.
	CreateEvent(ctx context.Context, e *corev1.Event) error
	// CountEvent adds one to the count of the stored Event of e's name, and sets its last time to e's.
	CountEvent(ctx context.Context, e *corev1.Event) error
}

// Object names one state of one object: where it is stored, its kind, its uid, and the revision
// that was judged. Kind and APIVersion are the preferred ones if Kinds says so.
type Object = graph.Ref

// DeleteRequest is a DELETE with options and guards.
type DeleteRequest struct {
	// Object's UID and Revision are preconditions; another revision or uid is a conflict.
	Object Object
	Policy metav1.DeletionPropagation
	// Guards are the keys of all owners that were judged, with the revisions they had, 0 for
	// none. The write is to be conditional on them in the same transaction; one that doesn't hold is a conflict.
	Guards []storage.Guard
}

// RemoveOwnersRequest takes the references with these uids out of the newest state of the object, whatever
// else has changed in it (D-50, D-51). Upstream sends a strategic merge patch, and a JSON merge patch
// where that isn't understood (D-52, J-43); inside the process neither need be written nor read.
type RemoveOwnersRequest struct {
	// Object's UID is a precondition; its Revision, if Exact is set.
	Object Object
	Exact  bool
	// UIDs of the owners whose references are to go, sorted.
	UIDs []string
}

// UnblockRequest is a change of metadata.ownerReferences (D-53).
type UnblockRequest struct {
	// Object's UID is a precondition.
	Object Object
	// UIDs of the owners that are no longer to be blocked, sorted.
	UIDs []string
}

// RemoveFinalizerRequest is a change of metadata.finalizers (D-44).
type RemoveFinalizerRequest struct {
	// Object's UID and Revision are preconditions.
	Object Object
	// Finalizer is "orphan" or "foregroundDeletion".
	Finalizer string
}

// Timeline is the store's state and what happens to it, all types in one order. A *cache.Cache is one.
type Timeline interface {
	// Ready is closed when there is a state.
	Ready() <-chan struct{}
	// Everything returns the newest state.
	Everything() (rev int64, all []*cache.Snapshot)
	// Timeline returns all events after rev. Errors: cache.ErrExpired.
	Timeline(rev int64) (*cache.Watcher, error)
}

// Kinds is the table of types.
type Kinds interface {
	// Kinds returns one entry for every kind that is served and stored, in every version that is
	// served, and a channel that is closed when the table is no longer the newest. The channel is closed
	// before the Timeline shows any event of a revision at which the newer table was in force already. A kind
	// that was served only while its collection was being removed may vanish before or after its objects do.
	Kinds() (table []graph.Kind, changed <-chan struct{})
}
