package apply

import (
	"reflect"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// field is a field of a Go struct as JSON has it. structured-merge-diff keeps the same in a cache
// that is copied whenever a type is added, which for a kind's hundreds of types takes long.
type field struct {
	json      string
	index     []int
	kind      reflect.Kind
	omitEmpty bool
	omitZero  func(reflect.Value) bool
}

// fieldsOf lists the fields of a struct, those of inlined ones among them. It follows value's
// lookupJsonTags: only what says so is inlined.
func fieldsOf(t reflect.Type, within []int) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		options := "," + rest + ","
		index := append(within[:len(within):len(within)], i)
		if strings.Contains(options, ",inline,") && f.Type.Kind() == reflect.Struct {
			all = append(all, fieldsOf(f.Type, index)...)
			continue
		}
		if name == "" {
			name = f.Name
		}
		x := field{json: name, index: index, kind: f.Type.Kind(), omitEmpty: strings.Contains(options, ",omitempty,")}
		if strings.Contains(options, ",omitzero,") {
			x.omitZero = value.OmitZeroFunc(f.Type)
		}
		all = append(all, x)
	}
	return all
}

// of returns the field's value in a struct.
func (f *field) of(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		v = v.Field(i)
	}
	return v
}

// omits reports whether a struct with this value in the field is shown without it.
func (f *field) omits(v reflect.Value) bool {
	if f.omitEmpty {
		switch f.kind {
		case reflect.Map, reflect.Slice, reflect.String, reflect.Array:
			if v.Len() == 0 {
				return true
			}
		case reflect.Struct:
		default:
			if v.IsZero() {
				return true
			}
		}
	}
	return f.omitZero != nil && f.omitZero(v)
}
