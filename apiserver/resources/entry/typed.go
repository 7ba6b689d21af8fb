package entry

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Clock returns the time to the second, as API objects have it.
type Clock func() metav1.Time

// ClockOf makes a Clock.
func ClockOf(now func() time.Time) Clock {
	return func() metav1.Time { return metav1.NewTime(now()).Rfc3339Copy() }
}

// Create makes a hook for new objects from a function for a Go type. Objects of other types are not changed.
func Create[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) {
		if o, ok := obj.(T); ok {
			f(o)
		}
	}
}

// CreateNew makes a hook for new objects from a function for updated ones, whose old object is nil.
func CreateNew[T any](f func(obj, old *T)) func(runtime.Object) {
	return func(obj runtime.Object) {
		if o, ok := any(obj).(*T); ok {
			f(o, nil)
		}
	}
}

// Coerce makes a hook from a function for a Go type. Objects of other types stay as they are.
func Coerce[T runtime.Object](f func(T) error) func(runtime.Object) ([]string, error) {
	return func(obj runtime.Object) ([]string, error) {
		if o, ok := obj.(T); ok {
			return nil, f(o)
		}
		return nil, nil
	}
}

// Change makes a hook for updated objects from a function for a Go type.
func Change[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		o, ok := obj.(T)
		if was, both := old.(T); ok && both {
			f(o, was)
		}
	}
}

// KeepMeta is a hook for writes of the status that change no metadata but managed fields.
func KeepMeta[T metav1.Object](obj, old T) { metav1.ResetObjectMetaForStatus(obj, old) }

// EarlyWarn makes a hook EarlyWarnings from a function for a Go type.
func EarlyWarn[T runtime.Object](f func(T) []string) func(runtime.Object) []string {
	return func(obj runtime.Object) []string {
		if o, ok := obj.(T); ok {
			return f(o)
		}
		return nil
	}
}

// Warn makes a hook Warnings from a function for a Go type. On create it is called with a nil T as the old object.
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

// Validate makes a hook for new objects from a function for a Go type. Objects of other types have no errors.
func Validate[T any](f func(obj *T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(o runtime.Object) field.ErrorList {
		obj, ok := any(o).(*T)
		if !ok || obj == nil {
			return nil
		}
		return f(obj)
	}
}

// ValidateChange makes a hook for updated objects from a function for a Go type.
func ValidateChange[T any](f func(obj, old *T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return func(o, before runtime.Object) field.ErrorList {
		obj, ok := any(o).(*T)
		old, was := any(before).(*T)
		if !ok || !was || obj == nil || old == nil {
			return nil
		}
		return f(obj, old)
	}
}

// ValidateNew validates a new object by a function for updated ones, whose old object is nil.
func ValidateNew[T any](f func(obj, old *T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return Validate(func(obj *T) field.ErrorList { return f(obj, nil) })
}

// ValidateAgain validates an updated object like a new one.
func ValidateAgain[T any](f func(obj *T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return ValidateChange(func(obj, _ *T) field.ErrorList { return f(obj) })
}

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
