package fieldmanager

import (
	"errors"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxListed is the maximum length of a list whose fields are compared. structured-merge-diff inserts each element into
// a sorted slice, which takes seconds for 30,000 elements in reverse order, and minutes for 120,000.
const maxListed = 10_000

// maxValues is the maximum length of other lists, without objects. Most of them are atomic and cost nothing.
const maxValues = 2 * maxListed

// errLongList is the error for an object with a longer list. Its writes do not change its managedFields.
var errLongList = errors.New("a list has too many elements for their fields to be compared")

// checkLists returns errLongList if an object has a list that is too long.
func checkLists(objs ...runtime.Object) error {
	for _, obj := range objs {
		long := false
		if u, ok := obj.(*unstructured.Unstructured); ok {
			long = longWithin(u.Object)
		} else {
			long = longTyped(reflect.ValueOf(obj))
		}
		if long {
			return errLongList
		}
	}
	return nil
}

// longWithin reports whether decoded JSON has a list that is too long.
func longWithin(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if longWithin(member) {
				return true
			}
		}
	case []any:
		return len(v) > maxValues || len(v) > maxListed && slices.ContainsFunc(v, isObject) ||
			slices.ContainsFunc(v, longWithin)
	}
	return false
}

// longTyped reports whether a Go value has a list that is too long. It does not read unexported fields. They are not
// fields of the object, and another goroutine may write them, such as those of time.Local.
func longTyped(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && longTyped(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() && longTyped(f) {
				return true
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // a []byte is one value
			return false
		}
		if v.Type().Elem().Kind() != reflect.Struct {
			return v.Len() > maxValues
		}
		if v.Len() > maxListed {
			return true
		}
		for i := range v.Len() {
			if longTyped(v.Index(i)) {
				return true
			}
		}
	}
	return false
}

func isObject(v any) bool {
	_, is := v.(map[string]any)
	return is
}
