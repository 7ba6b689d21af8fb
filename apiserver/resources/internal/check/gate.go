package check

import (
	"reflect"
	"slices"
)

// Fields are fields of a struct, by their Go names.
type Fields struct {
	of    reflect.Type
	names []string
}

// FieldsOf returns fields of T.
func FieldsOf[T any](names ...string) Fields { return Fields{reflect.TypeFor[T](), names} }

// Gate returns a function for a feature gate that is off (V-023). The function removes the gate's fields from a value,
// unless the old value has any of them. The old value may be nil. The types within T must not contain themselves.
func Gate[T any](fields ...Fields) func(now, old *T) {
	g := gate{fields: map[reflect.Type][]string{}, reach: map[reflect.Type]bool{}}
	for _, f := range fields {
		g.fields[f.of] = f.names
	}
	g.find(reflect.TypeFor[*T]())
	return func(now, old *T) {
		if old == nil || !g.each(reflect.ValueOf(old), false) {
			g.each(reflect.ValueOf(now), true)
		}
	}
}

// Gates returns one function for several gates.
func Gates[T any](drops ...func(now, old *T)) func(now, old *T) {
	return func(now, old *T) {
		for _, drop := range drops {
			drop(now, old)
		}
	}
}

// gate is the fields of a feature gate, with the types that contain any of them.
type gate struct {
	fields map[reflect.Type][]string
	reach  map[reflect.Type]bool
}

// find sets reach for a type and for those within it.
func (g *gate) find(of reflect.Type) bool {
	if found, known := g.reach[of]; known {
		return found
	}
	found := g.fields[of] != nil
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		found = g.find(of.Elem())
	case reflect.Struct:
		for i := range of.NumField() {
			found = of.Field(i).IsExported() && g.find(of.Field(i).Type) || found
		}
	}
	g.reach[of] = found
	return found
}

// each reports whether a value has any of the fields, and removes them if drop is true.
func (g *gate) each(v reflect.Value, drop bool) (found bool) {
	if !g.reach[v.Type()] {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && g.each(v.Elem(), drop)
	case reflect.Slice:
		for i := range v.Len() {
			found = g.each(v.Index(i), drop) || found
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			if g.each(value, drop) {
				if found = true; drop {
					v.SetMapIndex(key, value)
				}
			}
		}
	case reflect.Struct:
		names := g.fields[v.Type()]
		for i := range v.NumField() {
			f := v.Field(i)
			if !slices.Contains(names, v.Type().Field(i).Name) {
				found = g.each(f, drop) || found
			} else if !f.IsZero() {
				if found = true; drop {
					f.SetZero()
				}
			}
		}
	}
	return found
}
