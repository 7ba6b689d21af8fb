package jsonfield

import (
	"encoding/json"
	"reflect"
	"sync"
)

// Type describes the JSON of a Go type.
type Type struct {
	// Marshals and Unmarshals say that values, or pointers to them, have methods for JSON of their own.
	Marshals, Unmarshals bool
	// Fields are the fields of a struct in their order, those of an inlined struct in its place; nil for other types.
	Fields []Field
	byName map[string]int
}

// types are the types that were described: by reflect.Type a *Type.
var types sync.Map

var marshaler, unmarshaler = reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler]()

// Of returns the description of a type.
func Of(t reflect.Type) *Type {
	if known, ok := types.Load(t); ok {
		return known.(*Type)
	}
	pointer := reflect.PointerTo(t)
	d := &Type{
		Marshals:   t.Implements(marshaler) || pointer.Implements(marshaler),
		Unmarshals: t.Implements(unmarshaler) || pointer.Implements(unmarshaler),
	}
	if t.Kind() == reflect.Struct {
		d.Fields = fields(nil, t, nil)
		d.byName = make(map[string]int, len(d.Fields))
		for i := range d.Fields {
			if name := d.Fields[i].Name; name != "" {
				d.byName[name] = i
			}
		}
	}
	known, _ := types.LoadOrStore(t, d)
	return known.(*Type)
}

// fields appends the fields of a struct at an index path.
func fields(to []Field, t reflect.Type, within []int) []Field {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		index := append(within[:len(within):len(within)], i)
		tag := TagOf(f)
		if tag.Inline && f.Type.Kind() == reflect.Struct {
			to = fields(to, f.Type, index)
			continue
		}
		to = append(to, newField(f, tag, index))
	}
	return to
}

// Find returns the field of a name; nil if there is none.
func (d *Type) Find(name string) *Field {
	if i, ok := d.byName[name]; ok {
		return &d.Fields[i]
	}
	return nil
}
