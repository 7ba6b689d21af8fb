package entry

import (
	"reflect"
	"slices"
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
	var s []int
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && (always(f) || leads(f.Type)) {
			s = append(s, i)
		}
	}
	shown.Store(t, s)
	return s
}

// leads reports whether values of a type may contain lists or maps without omitempty.
var leads = Reach(func(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && slices.ContainsFunc(reflect.VisibleFields(t), always)
})

// Reach returns a function that reports whether values of a type may contain a value of a type for which is returns
// true.
func Reach(is func(reflect.Type) bool) func(reflect.Type) bool {
	var known sync.Map // of bool by reflect.Type
	var reach func(t reflect.Type, seen map[reflect.Type]bool) bool
	reach = func(t reflect.Type, seen map[reflect.Type]bool) bool {
		switch {
		case seen[t]:
			return false
		case is(t):
			return true
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			return reach(t.Elem(), seen)
		case reflect.Struct:
			for i := range t.NumField() {
				if f := t.Field(i); f.IsExported() && reach(f.Type, seen) {
					return true
				}
			}
		}
		return false
	}
	return func(t reflect.Type) bool {
		found, ok := known.Load(t)
		if !ok {
			found, _ = known.LoadOrStore(t, reach(t, map[reflect.Type]bool{}))
		}
		return found.(bool)
	}
}

// always reports whether a field is a list or a map without omitempty. A []byte does not count as a list.
func always(f reflect.StructField) bool {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || f.Anonymous || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
		return false
	}
	return f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.Uint8
}
