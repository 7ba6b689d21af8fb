package workload

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// API is the engine's interface to an API server. Its methods may be called from any goroutine. Errors are API errors
// (k8s.io/apimachinery/pkg/api/errors).
type API interface {
	EventAPI
	// View calls f with a state that is at least as new as every event sent by Follow, and every write acknowledged,
	// before the call. f must not keep the Reader, and should be quick.
	View(ctx context.Context, f func(Reader)) error
	// Glance is View without waiting for the writes of others: the state is at least as new as every event sent by
	// Follow.
	Glance(f func(Reader)) error
	// Follow sends to sink, from one goroutine, a zero Change, then every present object of first, and then the changes
	// of objects of first and of others, until ctx is done. It may start again from the beginning. It returns early,
	// with an error, if it can't continue.
	Follow(ctx context.Context, first Resource, others []Resource, sink func(Change)) error
	// Create stores a new object, without changing the argument, and returns its name.
	Create(ctx context.Context, o Object) (name string, err error)
	// Update replaces an object or only its status. The resourceVersion is a precondition. The stored managedFields are
	// kept, not those of o.
	Update(ctx context.Context, o Object, status bool) error
	// ApplyStatus applies the fields of the status that are set, by force, as the field manager of the process. A
	// resourceVersion is a precondition.
	ApplyStatus(ctx context.Context, o Object) error
	// Bind assigns a pod, in the state of the view, to a node.
	Bind(ctx context.Context, pod *corev1.Pod, node string) error
	// Delete deletes an object.
	Delete(ctx context.Context, r Resource, key Key, opts *metav1.DeleteOptions) error
}

// Change is a change of an object.
type Change struct {
	Resource Resource
	// Old is nil if the object is new, or present at the beginning; New is nil if it was deleted.
	Old, New *Meta
}

// Meta has the metadata of one state of an object.
type Meta struct {
	Key
	UID        types.UID
	Labels     map[string]string
	Finalizers []string
	// Controller is the owner in the controller reference; its UID is empty if there is none.
	Controller Owner
	// Deleting reports whether deletionTimestamp is set.
	Deleting bool
	// Node is a pod's node; empty if it has none.
	Node string
	// Mentions reports whether a pod's JSON contains the text; nil for other resources.
	Mentions func(text string) bool
	// Claims decodes a pod and returns the names of the claims that it mounts (ClaimsOf). It fails if the pod can't be
	// decoded, and may mount some. Nil for other resources.
	Claims func() ([]string, error)
}

// Owner is the owner in a controller reference.
type Owner struct {
	APIVersion, Kind, Name string
	UID                    types.UID
}

// OwnerOf returns the owner that a reference names.
func OwnerOf(r *metav1.OwnerReference) Owner { return Owner{r.APIVersion, r.Kind, r.Name, r.UID} }

// Scale is the content of an object's scale subresource.
type Scale struct {
	UID      types.UID
	Replicas int32
}

// Is reports whether the owner is an object of the resource, in any of its versions.
func (o Owner) Is(r Resource) bool {
	return o.Kind == r.Kind && o.APIVersion[:max(0, strings.LastIndexByte(o.APIVersion, '/'))] == r.Group
}
