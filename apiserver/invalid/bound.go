package invalid

import (
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// MaxErrors is the maximum number of errors in a response.
	MaxErrors = 500
	// maxBytes is about the maximum total length of the errors. The first is included even if it is longer.
	maxBytes = 256 << 10
)

// New returns the error 422 for an object of the kind. errs must have at least one error.
func New(kind schema.GroupKind, name string, errs field.ErrorList) *apierrors.StatusError {
	return apierrors.NewInvalid(kind, name, first(errs))
}

// Options returns the error 422 for options, or nil if there are no errors (A-01, A-38, C-07).
func Options(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return New(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// Enough reports whether further errors would be omitted.
func Enough(errs field.ErrorList) bool { return len(errs) >= MaxErrors }

// first returns the errors that fit into a response, but at least one.
func first(errs field.ErrorList) field.ErrorList {
	bytes := 0
	for i, err := range errs {
		if i == MaxErrors {
			return errs[:i:i]
		}
		if bytes += len(err.Field) + len(err.Detail) + printed(reflect.ValueOf(err.BadValue), 8); bytes > maxBytes && i > 0 {
			return errs[:i:i]
		}
	}
	return errs
}

// printed returns the approximate length of a value in a message. It reads values down to a depth.
func printed(v reflect.Value, depth int) (n int) {
	if depth == 0 {
		return 16
	}
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return printed(v.Elem(), depth-1)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			n += 2 + printed(v.Index(i), depth-1)
		}
		return n
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			n += 4 + printed(i.Key(), depth-1) + printed(i.Value(), depth-1)
		}
		return n
	case reflect.Struct:
		for i := range v.NumField() {
			n += len(v.Type().Field(i).Name) + 2 + printed(v.Field(i), depth-1)
		}
		return n
	}
	return 8
}
