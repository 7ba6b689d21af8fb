package codec

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// storable reports whether an object certainly can be encoded as JSON and decoded again: all values that could prevent
// that were looked at. false means that this is not known. It takes a tenth of the time of doing so.
func storable(obj runtime.Object) bool {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return false
	}
	known, ok := probes.Load(v.Type())
	if !ok {
		known, _ = probes.LoadOrStore(v.Type(), probeOf(v.Type().Elem(), map[reflect.Type]bool{}))
	}
	p := known.(probe)
	return p == nil || p(v.Elem())
}

// probe is storable for the addressable values of a type; nil if it is true for all of them.
type probe func(v reflect.Value) bool

// probes are those of objects, by the pointer's type.
var probes sync.Map

// unknown is the probe of types whose values are not looked at.
func unknown(reflect.Value) bool { return false }

// coders are the interfaces of types that encode or decode themselves.
var coders = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

// probeOf makes the probe of a type; inside has the types around it, as types may contain themselves.
func probeOf(t reflect.Type, inside map[reflect.Type]bool) probe {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return func(v reflect.Value) bool { return usual(v.Addr().Interface().(*metav1.Time)) }
	case reflect.TypeFor[metav1.FieldsV1]():
		return func(v reflect.Value) bool { return fields(v.Addr().Interface().(*metav1.FieldsV1)) }
	}
	if t.Kind() == reflect.Pointer { // its methods are those of the type to which it points
		return eachOf(probeOf(t.Elem(), inside), func(v reflect.Value, p probe) bool { return v.IsNil() || p(v.Elem()) })
	}
	if inside[t] || codesItself(t) {
		return unknown
	}
	inside[t] = true
	defer delete(inside, t)
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil
	case reflect.Slice:
		return eachOf(probeOf(t.Elem(), inside), func(v reflect.Value, p probe) bool {
			for i := range v.Len() {
				if !p(v.Index(i)) {
					return false
				}
			}
			return true
		})
	case reflect.Map: // its values are not addressable
		if t.Key().Kind() != reflect.String || codesItself(t.Key()) {
			return unknown
		}
		return eachOf(probeOf(t.Elem(), inside), func(v reflect.Value, _ probe) bool { return v.Len() == 0 })
	case reflect.Struct:
		return ofStruct(t, inside)
	}
	return unknown // floats can be infinite, an interface can have any value
}

// eachOf is the probe of a type that contains values of another, which has the probe p.
func eachOf(p probe, check func(v reflect.Value, p probe) bool) probe {
	if p == nil {
		return nil
	}
	return func(v reflect.Value) bool { return check(v, p) }
}

func ofStruct(t reflect.Type, inside map[reflect.Type]bool) probe {
	type member struct {
		index int
		probe probe
	}
	var members []member
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() { // also if it is embedded: its fields would have to be looked at
			if f.Anonymous {
				return unknown
			}
			continue
		}
		if p := probeOf(f.Type, inside); p != nil {
			members = append(members, member{i, p})
		}
	}
	if len(members) == 0 {
		return nil
	}
	return func(v reflect.Value) bool {
		for _, m := range members {
			if !m.probe(v.Field(m.index)) {
				return false
			}
		}
		return true
	}
}

func codesItself(t reflect.Type) bool {
	for _, c := range coders {
		if t.Implements(c) || reflect.PointerTo(t).Implements(c) {
			return true
		}
	}
	return false
}

// usual reports whether a time is in a year that RFC 3339 has, in all zones.
func usual(t *metav1.Time) bool {
	year := t.Year()
	return t.IsZero() || 2 <= year && year <= 9998
}

// fields reports whether the value is an object in JSON. If it is shorter than MaxDepth, it can't be too deep inside of
// metadata.
func fields(f *metav1.FieldsV1) bool {
	raw := f.GetRawBytes()
	return len(raw) == 0 || raw[0] == '{' && len(raw) < MaxDepth && json.Valid(raw)
}
