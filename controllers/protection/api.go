package protection

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Kind is a kind of object that uses or is protected.
type Kind uint8

// The kinds. The comment names the Go type of their objects.
const (
	Pod    Kind = iota // *corev1.Pod
	Claim              // *corev1.PersistentVolumeClaim
	Volume             // *corev1.PersistentVolume
	Class              // *storagev1.VolumeAttributesClass
)

// String returns the Kubernetes kind.
func (k Kind) String() string {
	return [...]string{"Pod", "PersistentVolumeClaim", "PersistentVolume", "VolumeAttributesClass"}[k]
}

// Object is an object of one of the kinds, of the Go type of the Kind.
type Object interface {
	metav1.Object
	runtime.Object
}

// Key identifies an object of a kind. Namespace is empty for volumes and classes.
type Key struct{ Namespace, Name string }

func keyOf(o metav1.Object) Key { return Key{o.GetNamespace(), o.GetName()} }

// API is a controller's interface to an API server. Its methods may be called from any goroutine. These errors of
// k8s.io/apimachinery/pkg/api/errors have a meaning: NotFound, Conflict.
type API interface {
	// Follow calls sink, from one goroutine, with an event of type Began, then with one for every object of the kind,
	// and then with changes of these objects and of their users, until ctx is done. It may start again from the
	// beginning. It returns early, with an error, if it can't continue; it is then called again.
	Follow(ctx context.Context, kind Kind, users []Kind, sink func(Event)) error
	// Get returns the stored object, at least as new as every event that was sent before.
	Get(ctx context.Context, kind Kind, key Key) (Object, error)
	// Users returns the stored objects of a kind that may use one of the keys: every write acknowledged before the call
	// is seen. Objects that name none of the keys may be omitted. There is at least one key, and all are of one
	// namespace.
	Users(ctx context.Context, kind Kind, keys []Key) ([]Object, error)
	// Update writes the object; Conflict if its resourceVersion is stale.
	Update(ctx context.Context, kind Kind, o Object) error
}

// EventType is the type of an event.
type EventType uint8

// The types of events.
const (
	// Began: earlier state may have changed without an event.
	Began EventType = iota
	// Protected: an object of the kind that Follow was called for was created, changed or deleted.
	Protected
	// User: one of its users changed or was deleted. Only changes that end a use matter.
	User
)

// Event is a change, or a part of the state at the beginning.
type Event struct {
	Type EventType
	// Key is the object's; unset for Began.
	Key Key
	// Old is the state before, set for User; New the state after, nil if the object was removed.
	Old, New Object
}
