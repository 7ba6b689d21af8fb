package entry

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Clock tells the time to the second, as API objects do.
type Clock func() metav1.Time

// ClockOf makes a Clock of a clock.
func ClockOf(now func() time.Time) Clock {
	return func() metav1.Time { return metav1.NewTime(now()).Rfc3339Copy() }
}

// Create makes a hook for new objects of one that is written for a Go type. Objects of other types pass unchanged.
func Create[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) {
		if o, ok := obj.(T); ok {
			f(o)
		}
	}
}

// Change makes a hook for changed objects of one that is written for a Go type.
func Change[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		o, ok := obj.(T)
		if was, both := old.(T); ok && both {
			f(o, was)
		}
	}
}

// KeepMeta is a hook for writes to /status that change no metadata but managed fields.
func KeepMeta[T metav1.Object](obj, old T) { metav1.ResetObjectMetaForStatus(obj, old) }

// EarlyWarn makes a hook that warns before a new object is prepared of one that is written for a Go type.
func EarlyWarn[T runtime.Object](f func(T) []string) func(runtime.Object) []string {
	return func(obj runtime.Object) []string {
		if o, ok := obj.(T); ok {
			return f(o)
		}
		return nil
	}
}

// Warn makes a hook that warns of one that is written for a Go type, which gets a nil T as the old object of a new one.
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

// Validate makes a hook for new objects of one that is written for a Go type. It finds no error in objects of others.
func Validate[T any](f func(obj *T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(o runtime.Object) field.ErrorList {
		obj, ok := any(o).(*T)
		if !ok || obj == nil {
			return nil
		}
		return f(obj)
	}
}

// ValidateChange makes a hook for changed objects of one that is written for a Go type.
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

// ValidateAgain validates a changed object as if it were new.
func ValidateAgain[T any](f func(obj *T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return ValidateChange(func(obj, _ *T) field.ErrorList { return f(obj) })
}
