package entry

import (
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// empty sets empty lists and maps to nil if the difference is visible in JSON. For example, the response for a role
// with rules [] has null, because kube-apiserver stores built-in objects as protobuf, which has no empty lists.
// CustomResourceDefinitions are the exception: kube-apiserver stores them as JSON.
func empty(obj runtime.Object) {
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && !v.IsNil() {
		emptyIn(v.Elem())
	}
}

func emptyIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			emptyIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			emptyIn(v.Index(i))
		}
	case reflect.Struct:
		for _, i := range shownFields(v.Type()) {
			f := v.Field(i)
			if list := f.Kind() == reflect.Slice || f.Kind() == reflect.Map; list && f.Len() == 0 && always(v.Type().Field(i)) {
				f.SetZero()
			}
			emptyIn(f)
		}
	}
}

// shown caches shownFields by reflect.Type.
var shown sync.Map

// shownFields returns the indices of the fields of a struct that empty must check: lists and maps without omitempty,
// and values that contain such fields.
func shownFields(t reflect.Type) []int {
	if s, ok := shown.Load(t); ok {
		return s.([]int)
	}
	s := find(t, map[reflect.Type][]int{})
	shown.Store(t, s)
	return s
}

// find returns the fields of a struct that empty must check, and records them in made, as well as those of nested
// structs. It assumes that a recursive type has no such fields.
func find(t reflect.Type, made map[reflect.Type][]int) []int {
	if s, ok := made[t]; ok {
		return s
	}
	made[t] = nil
	for i := range t.NumField() {
		f := t.Field(i)
		if f.IsExported() && (always(f) || leads(f.Type, made)) {
			made[t] = append(made[t], i)
		}
	}
	return made[t]
}

func leads(t reflect.Type, made map[reflect.Type][]int) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return leads(t.Elem(), made)
	case reflect.Struct:
		return len(find(t, made)) > 0
	}
	return false
}

// always reports whether a field is a list or a map without omitempty. A []byte does not count as a list.
func always(f reflect.StructField) bool {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || f.Anonymous || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
		return false
	}
	return f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.Uint8
}
