package workload

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/event"
)

// API is what the engine needs of an API server. Its methods may be called from any goroutine. Errors are
// API errors (k8s.io/apimachinery/pkg/api/errors).
type API interface {
	event.API
	// View calls f with a state at least as new as every event told, and every write acknowledged, before the
	// call. f may not keep the Reader, and is to be quick.
	View(ctx context.Context, f func(Reader)) error
	// Glance is View without waiting for writes of others: as new as every event told.
	Glance(f func(Reader)) error
	// Follow tells sink, from one goroutine, of every object of first that there is, and then of what
	// happens to the objects of first and of others, until ctx is done. It may start again from the beginning. It
	// returns early, with an error, if it can't go on.
	Follow(ctx context.Context, first Resource, others []Resource, sink func(Change)) error
	// Create stores a new object, without changing the argument, and returns the name that it was given.
	Create(ctx context.Context, o Object) (name string, err error)
	// Update replaces an object or only its status. Its resourceVersion is a precondition. Its managedFields
	// are those that are stored, whatever it says.
	Update(ctx context.Context, o Object, status bool) error
	// Bind assigns a pod, as it was viewed, to a node.
	Bind(ctx context.Context, pod *corev1.Pod, node string) error
	// Delete deletes an object.
	Delete(ctx context.Context, r Resource, key Key, opts *metav1.DeleteOptions) error
}

// Change tells of an object.
type Change struct {
	Resource Resource
	// Old is nil if the object is new, or told of at the beginning; New if it is gone.
	Old, New *Meta
}

// Meta is what is told of one state of an object.
type Meta struct {
	Key
	UID        types.UID
	Labels     map[string]string
	Finalizers []string
	// Controller is who the controller reference names; its UID is empty if there is none.
	Controller Owner
	// Deleting says that deletionTimestamp is set.
	Deleting bool
}

// Owner is whom a controller reference names.
type Owner struct {
	APIVersion, Kind, Name string
	UID                    types.UID
}

// Is reports whether the owner is an object of the resource, of any of its versions.
func (o Owner) Is(r Resource) bool {
	group, _, found := cutLast(o.APIVersion)
	if !found {
		group = ""
	}
	return o.Kind == r.Kind && group == r.Group
}

// cutLast cuts at the last slash.
func cutLast(s string) (before, after string, found bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}
