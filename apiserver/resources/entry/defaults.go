package entry

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// Default makes a hook from a function for a Go type; the hook also makes empty lists nil. Objects of other types are
// not changed.
func Default[T any](f func(*T)) func(runtime.Object) {
	keeping := DefaultKeepingLists(f)
	return func(obj runtime.Object) {
		keeping(obj)
		if o, ok := any(obj).(*T); ok && o != nil {
			empty(obj)
		}
	}
}

// DefaultKeepingLists is Default for a kind that keeps its empty lists.
func DefaultKeepingLists[T any](f func(*T)) func(runtime.Object) {
	return func(obj runtime.Object) {
		if o, ok := any(obj).(*T); ok && o != nil {
			f(o)
		}
	}
}

// DefaultEmptyLists is the hook of kinds without defaults: it only makes empty lists nil.
func DefaultEmptyLists[T any]() func(runtime.Object) { return Default(func(*T) {}) }
