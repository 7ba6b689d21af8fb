package jsonfield

import (
	"reflect"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Tag has the content of a field's tags.
type Tag struct {
	// Name is the field's name in JSON; empty if the field isn't in JSON, or is inlined.
	Name string
	// Inline says that the fields of the field's struct are inlined in its place.
	Inline              bool
	OmitEmpty, OmitZero bool
}

// TagOf reads the tag of a field. Without a name in the tag it is the Go field's.
func TagOf(f reflect.StructField) Tag {
	tag := f.Tag.Get("json")
	if tag == "-" {
		return Tag{}
	}
	name, options, _ := strings.Cut(tag, ",")
	t := Tag{Name: name}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "inline":
			t.Inline = true
		case "omitempty":
			t.OmitEmpty = true
		case "omitzero":
			t.OmitZero = true
		}
	}
	if embedded := f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct; embedded && !Of(f.Type).Unmarshals {
		t.Inline = true
	}
	switch {
	case t.Inline:
		t.Name = ""
	case name == "":
		t.Name = f.Name
	}
	return t
}

// Field is an exported field of a struct, or of a struct that is inlined into it.
type Field struct {
	// Name is the field's name in JSON; empty if it isn't in JSON.
	Name string
	// Type is the field's Go type.
	Type reflect.Type
	// Number is the field's number in protobuf; 0 if it has none.
	Number uint64
	// OmitEmpty and OmitZero say that JSON omits the field when it is empty, or zero.
	OmitEmpty, OmitZero bool
	// index is the index path from the struct to the field.
	index []int
	zero  func(reflect.Value) bool
}

// Direct reports whether the field is the struct's own, and not one of an inlined struct.
func (f *Field) Direct() bool { return len(f.index) == 1 }

// In returns the field's value in a struct.
func (f *Field) In(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		v = v.Field(i)
	}
	return v
}

// Omits reports whether JSON omits the field with this value.
func (f *Field) Omits(v reflect.Value) bool {
	if f.OmitEmpty {
		switch f.Type.Kind() {
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
	return f.zero != nil && f.zero(v)
}

// newField describes the field at an index path.
func newField(f reflect.StructField, tag Tag, index []int) Field {
	x := Field{Name: tag.Name, Type: f.Type, Number: number(f.Tag.Get("protobuf")), OmitEmpty: tag.OmitEmpty,
		OmitZero: tag.OmitZero, index: index}
	if tag.OmitZero {
		x.zero = value.OmitZeroFunc(f.Type)
	}
	return x
}

// number is the number in a field's protobuf tag ("bytes,2,rep,name=items"); 0 for none.
func number(tag string) uint64 {
	_, rest, _ := strings.Cut(tag, ",")
	digits, _, _ := strings.Cut(rest, ",")
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0
	}
	return n
}
