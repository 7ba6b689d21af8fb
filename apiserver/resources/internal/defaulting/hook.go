package defaulting

import "k8s.io/apimachinery/pkg/runtime"

// Hook makes a hook of one that is written for a Go type, and has it make empty lists nil. Objects of other types pass
// unchanged.
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

// EmptyLists is the hook of kinds that have no defaults but lists.
func EmptyLists[T any]() func(runtime.Object) { return Hook(func(*T) {}) }
