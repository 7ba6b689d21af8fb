package defaulting

import "k8s.io/apimachinery/pkg/runtime"

// Hook makes a hook from a function for a Go type; the hook also makes empty lists nil. Objects of other types are not
// changed.
func Hook[T any](f func(*T)) func(runtime.Object) {
	keeping := HookKeepingLists(f)
	return func(obj runtime.Object) {
		keeping(obj)
		if o, ok := any(obj).(*T); ok && o != nil {
			empty(obj)
		}
	}
}

// HookKeepingLists is Hook for a kind that keeps its empty lists.
func HookKeepingLists[T any](f func(*T)) func(runtime.Object) {
	return func(obj runtime.Object) {
		if o, ok := any(obj).(*T); ok && o != nil {
			f(o)
		}
	}
}

// EmptyLists is the hook of kinds without defaults: it only makes empty lists nil.
func EmptyLists[T any]() func(runtime.Object) { return Hook(func(*T) {}) }
