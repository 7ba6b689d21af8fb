package entry

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/storage"
)

// Object has the methods of every API object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Hooks are the hooks of one resource. Each may be nil.
type Hooks struct {
	// Begin completes objects before they are stored.
	Begin Begin
	// Create handles POST of a resource that is not stored.
	Create HandlePost
	// Objects makes the objects of a resource that is not stored but can be read.
	Objects Objects
}

// Begin is called for a create, with a nil old, or for an update. It is called after mutating admission, and before the
// object is prepared, validated and stored. It may change obj. If it returns a zero Begun, the write continues.
type Begin func(ctx context.Context, w Write, obj, old Object) (Begun, error)

// Write is the interface of the server for Begin.
type Write interface {
	// DryRun reports whether nothing will be stored.
	DryRun() bool
	// Turn waits until no other write of this server has a turn. It returns the error of the context.
	Turn(ctx context.Context) (release func(), err error)
	// Fresh waits until Scan sees every write that was acknowledged before the call.
	Fresh(ctx context.Context) error
	// Scan calls yield for each stored object of a resource, in key order, with the values of the named selectable
	// fields. yield must not retain the values. An object whose Err is set has no values. The guard holds while no
	// object of the resource is written. Its key is the common prefix of the keys of the resource's objects.
	Scan(r schema.GroupVersionResource, fields []string, yield func(o *storage.Object, values []string)) (
		storage.Guard, error)
	// Unreadable reports a stored object that can't be decoded. then describes the consequence.
	Unreadable(key string, err error, then string)
	// Ranges returns the service IP range and the node ports in the server's flags.
	Ranges() allocate.Ranges
}

// Begun is the result of Begin.
type Begun struct {
	// Fill, if set, completes a copy of the object for one attempt to store it. It returns guards that must hold when
	// the object is stored. If one does not hold, Fill is called again with another copy.
	Fill func(ctx context.Context, obj Object) ([]storage.Guard, error)
	// Finish, if set, ends the write. err is nil if the object was stored. Otherwise Finish undoes the changes that
	// Begin and Fill have made elsewhere.
	Finish func(err error)
}

// HandlePost handles a POST with the body obj, and returns the body of the response 201. That is obj itself with its
// kind set, another object, or nil for a Status that reports success.
type HandlePost func(ctx context.Context, r Request, obj runtime.Object) (runtime.Object, error)

// Objects makes the objects of a resource when they are read.
type Objects struct {
	// List returns the objects of a namespace, or of all if it is empty, sorted by namespace and name. If name is set,
	// only the object of that name is needed, and the caller ignores others.
	List func(ctx context.Context, s Server, namespace, name string) ([]Object, error)
	// NotFound returns the error for a name without an object.
	NotFound func(namespace, name string) error
}
