package entry

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Clock returns the time in whole seconds, as in API objects.
type Clock func() metav1.Time

// ClockOf returns a Clock that reads now.
func ClockOf(now func() time.Time) Clock {
	return func() metav1.Time { return metav1.NewTime(now()).Rfc3339Copy() }
}

// Prepare returns a hook from a function for new objects and one for updated ones, which may be nil.
func Prepare[T any](create func(*T), update func(obj, old *T)) func(obj, old runtime.Object) {
	return Change(func(obj, old *T) {
		if old == nil {
			create(obj)
		} else if update != nil {
			update(obj, old)
		}
	})
}

// Coerce returns a hook from a function for a Go type. It does not change objects of other types.
func Coerce[T runtime.Object](f func(T) error) func(runtime.Object) ([]string, error) {
	return func(obj runtime.Object) ([]string, error) {
		if o, ok := obj.(T); ok {
			return nil, f(o)
		}
		return nil, nil
	}
}

// Change returns a hook from a function for a Go type, which gets a nil old object on create. It does not change
// objects of other types.
func Change[T any](f func(obj, old *T)) func(obj, old runtime.Object) {
	return func(o, before runtime.Object) {
		if obj, old, ok := typed[T](o, before); ok {
			f(obj, old)
		}
	}
}

// typed returns an object and its old state as a Go type, and reports whether they have this type. before may be nil.
func typed[T any](o, before runtime.Object) (obj, old *T, ok bool) {
	obj, _ = any(o).(*T)
	old, _ = any(before).(*T)
	return obj, old, obj != nil && (before == nil || old != nil)
}

// KeepMeta is a hook for writes of the status that may change no metadata except managed fields.
func KeepMeta[T metav1.Object](obj, old T) { metav1.ResetObjectMetaForStatus(obj, old) }

// EarlyWarn returns a hook EarlyWarnings from a function for a Go type.
func EarlyWarn[T runtime.Object](f func(T) []string) func(runtime.Object) []string {
	return func(obj runtime.Object) []string {
		if o, ok := obj.(T); ok {
			return f(o)
		}
		return nil
	}
}

// Warn returns a hook Warnings from a function for a Go type. On create it calls the function with a nil T as the old
// object.
func Warn[T runtime.Object](f func(obj, old T) []string) func(obj, old runtime.Object) []string {
	return func(obj, old runtime.Object) []string {
		o, ok := obj.(T)
		if !ok {
			return nil
		}
		was, _ := old.(T)
		return f(o, was)
	}
}

// Validate returns a hook that validates new and updated objects alike, from a function for a Go type. It returns no
// errors for objects of other types.
func Validate[T any](f func(obj *T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return ValidateChange(func(obj, _ *T) field.ErrorList { return f(obj) })
}

// ValidateChange returns a hook from a function for a Go type, which gets a nil old object on create.
func ValidateChange[T any](f func(obj, old *T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return func(o, before runtime.Object) field.ErrorList {
		if obj, old, ok := typed[T](o, before); ok {
			return f(obj, old)
		}
		return nil
	}
}

// ValidateEither returns a hook from a function for new objects and one for updated ones.
func ValidateEither[T any](
	create func(obj *T) field.ErrorList, update func(obj, old *T) field.ErrorList,
) func(obj, old runtime.Object) field.ErrorList {
	return ValidateChange(func(obj, old *T) field.ErrorList {
		if old == nil {
			return create(obj)
		}
		return update(obj, old)
	})
}

// Default returns a hook from a function for a Go type. The hook also sets empty lists to nil. It does not change
// objects of other types.
func Default[T any](f func(*T)) func(runtime.Object) {
	keeping := DefaultKeepingLists(f)
	return func(obj runtime.Object) {
		keeping(obj)
		if o, ok := any(obj).(*T); ok && o != nil {
			empty(obj)
		}
	}
}

// DefaultKeepingLists returns the hook of Default for a kind that keeps its empty lists.
func DefaultKeepingLists[T any](f func(*T)) func(runtime.Object) {
	return func(obj runtime.Object) {
		if o, ok := any(obj).(*T); ok && o != nil {
			f(o)
		}
	}
}

// DefaultEmptyLists returns the hook of a kind without defaults: it only sets empty lists to nil.
func DefaultEmptyLists[T any]() func(runtime.Object) { return Default(func(*T) {}) }
