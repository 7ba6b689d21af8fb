package entry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// Default makes a hook from a function for a Go type; the hook also makes empty lists nil. Objects of other types are not
// changed.
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

// SetDefault sets a nil pointer to a value.
func SetDefault[T any](p **T, v T) {
	if *p == nil {
		*p = &v
	}
}

// FillDefault replaces an empty value.
func FillDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// Round rounds quantities up to thousandths (SetDefaults_ResourceList).
func Round(list corev1.ResourceList) {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = q
	}
}

// DefaultRequirements rounds the quantities of requirements up.
func DefaultRequirements(r *corev1.ResourceRequirements) {
	if r != nil {
		Round(r.Limits)
		Round(r.Requests)
	}
}
