package apiserver

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What an answer says of an invalid object is bounded: texts quote what is wrong, some of them a whole
// list once an item, and to join them takes as long as they are many.
const (
	maxFaults     = 500
	maxFaultBytes = 256 << 10
)

// fewest returns as many of the errors as may be told, at least one.
func fewest(errs field.ErrorList) field.ErrorList {
	bytes := 0
	for i, err := range errs {
		if i == maxFaults {
			return errs[:i:i]
		}
		if bytes += len(err.Field) + len(err.Detail) + quotedLen(err.BadValue); bytes > maxFaultBytes && i > 0 {
			return errs[:i:i]
		}
	}
	return errs
}

// quotedLen is about how long a value is when it is quoted.
func quotedLen(v any) int { return printed(reflect.ValueOf(v), 8) }

// printed looks as deep as depth.
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
