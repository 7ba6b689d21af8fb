package apply

import (
	"errors"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// mostListed is how many objects a list may have for its fields to be compared: structured-merge-diff inserts each into
// a sorted slice, which takes seconds for 30,000 in reverse order, and minutes for 120,000.
const mostListed = 10_000

// errListed is the error of an object with a longer list. Its writes leave it without managedFields.
var errListed = errors.New("a list has too many objects for their fields to be compared")

// listed returns errListed for objects with a list that is too long.
func listed(objs ...runtime.Object) error {
	for _, obj := range objs {
		long := false
		if u, ok := obj.(*unstructured.Unstructured); ok {
			long = longWithin(u.Object)
		} else {
			long = longTyped(reflect.ValueOf(obj))
		}
		if long {
			return errListed
		}
	}
	return nil
}

// longWithin looks into what JSON is decoded to.
func longWithin(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if longWithin(member) {
				return true
			}
		}
	case []any:
		if len(v) > mostListed {
			_, object := v[0].(map[string]any)
			return object
		}
		for _, element := range v {
			if longWithin(element) {
				return true
			}
		}
	}
	return false
}

// longTyped looks into a Go value, as far as there may be lists of structures.
func longTyped(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && longTyped(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if longTyped(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Struct {
			return false
		}
		if v.Len() > mostListed {
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
