package workload

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Key identifies an object of the resource that a controller is for.
type Key struct{ Namespace, Name string }

// KeyOf returns an object's key.
func KeyOf(o Object) Key { return Key{o.GetNamespace(), o.GetName()} }

// KeysOf returns the keys of the objects for which keep returns true.
func KeysOf[T Object](list []T, keep func(T) bool) (keys []Key) {
	for _, o := range list {
		if keep(o) {
			keys = append(keys, KeyOf(o))
		}
	}
	return keys
}

// String returns namespace/name.
func (k Key) String() string { return k.Namespace + "/" + k.Name }

// Compare orders keys.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Name, other.Name))
}

// FalseFirst orders truth values.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Reader is one state of the store, the same for all calls. Objects that it returns are shared: they may be kept, but
// must not be changed (DeepCopy them). Only pods have managedFields. Lists are sorted by namespace and name.
type Reader interface {
	// Get returns an object, nil if there is none or it can't be decoded. An object of a Sparse resource may be newer
	// than the state.
	Get(r Resource, namespace, name string) Object
	// Err returns the reason why an object that exists can't be decoded; nil if it can.
	Err(r Resource, namespace, name string) error
	// Controlled returns the objects whose controller reference (I-20) has the uid.
	Controlled(r Resource, owner types.UID) []Object
	// Free returns the objects of a namespace that have no controller reference.
	Free(r Resource, namespace string) []Object
	// All returns the objects of a namespace, or of all namespaces if it is empty. The list may be shared, and must not be
	// changed. The cost grows with the number of objects: passes should use Controlled, Free and Get.
	All(r Resource, namespace string) []Object
	// PodsMounting returns the pods of the claim's namespace that mount it (ClaimsOf).
	PodsMounting(claim Key) []*corev1.Pod
	// Readable reports whether all objects of a namespace, or of all namespaces if it is empty, can be decoded. Other
	// methods omit those that can't. Pods without claims may be ignored.
	Readable(r Resource, namespace string) bool
}

// Get returns an object by its Go type; nil if there is none.
func Get[T Object](v Reader, namespace, name string) (t T) {
	if o := v.Get(resourceOf[T](), namespace, name); o != nil {
		return o.(T)
	}
	return t
}

// Controlled is Reader.Controlled by Go type.
func Controlled[T Object](v Reader, owner types.UID) []T {
	return typed[T](v.Controlled(resourceOf[T](), owner))
}

// Free is Reader.Free by Go type.
func Free[T Object](v Reader, namespace string) []T {
	return typed[T](v.Free(resourceOf[T](), namespace))
}

// All is Reader.All by Go type.
func All[T Object](v Reader, namespace string) []T {
	return typed[T](v.All(resourceOf[T](), namespace))
}

func resourceOf[T Object]() Resource {
	var none T
	return Of(none)
}

func typed[T Object](list []Object) []T {
	out := make([]T, len(list))
	for i, o := range list {
		out[i] = o.(T)
	}
	return out
}

// View is the input of a decision.
type View struct {
	Reader
	Key Key
	// Object is the object of the pass; nil if it was deleted.
	Object Object
	// Failed is the action that failed when the pass's first plan was carried out; nil if none has. If it is set, only
	// the Status and the Events of the plan that Decide returns are carried out.
	Failed *Failure
}

// Failure is an action that could not be carried out.
type Failure struct {
	Action Action
	Err    error
}

// Error returns the action and its error.
func (f *Failure) Error() string { return fmt.Sprintf("%v: %v", f.Action, f.Err) }

// Unwrap returns the API's error.
func (f *Failure) Unwrap() error { return f.Err }
