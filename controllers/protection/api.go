package protection

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Kind is a kind of objects that take part.
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

// Object is an object of one of the kinds, in the type that the Kind says.
type Object interface {
	metav1.Object
	runtime.Object
}

// Key names an object of a kind. Namespace is empty for volumes and classes.
type Key struct{ Namespace, Name string }

func keyOf(o metav1.Object) Key { return Key{o.GetNamespace(), o.GetName()} }

// API is what a controller needs of an API server. Its methods may be called from any goroutine.
// Errors are those of k8s.io/apimachinery/pkg/api/errors where a meaning is given: NotFound, Conflict.
type API interface {
	// Follow calls sink, from one goroutine, with an event of type Began, then with one for every
	// object of the kind, and then with what changes about it or its users, until ctx is done. It
	// may start again from the beginning. It returns early, with an error, if it can't go on; it is
	// then called again.
	Follow(ctx context.Context, kind Kind, users []Kind, sink func(Event)) error
	// Get returns the object as it is stored now, at least as new as every event told before.
	Get(ctx context.Context, kind Kind, key Key) (Object, error)
	// Users returns the objects of a kind that may use one of the keys, as they are stored now: every
	// write acknowledged before the call is seen. Those that name none of them may be left out.
	// There is at least one key, and all are of one namespace.
	Users(ctx context.Context, kind Kind, keys []Key) ([]Object, error)
	// Update puts the object; Conflict if its resourceVersion is stale.
	Update(ctx context.Context, kind Kind, o Object) error
}

// EventType says what an event tells.
type EventType uint8

// The types of events.
const (
	// Began: what was told before may have changed without an event.
	Began EventType = iota
	// Protected: an object of the kind that Follow was asked for was created, changed or removed.
	Protected
	// User: one of its users changed or was removed. Of changes, only those matter that end a use.
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
