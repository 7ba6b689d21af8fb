package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
)

// fieldTag is the JSON tag of a field.
type fieldTag struct {
	// name is the field's name in JSON. It is empty if the field isn't in JSON, or is inlined.
	name string
	// inline is set if the field is a struct whose fields are in its place.
	inline, omitEmpty bool
}

// tagOf parses the JSON tag of a field. A field without a name in the tag has its Go name.
func tagOf(f reflect.StructField) fieldTag {
	tag := f.Tag.Get("json")
	if tag == "-" {
		return fieldTag{}
	}
	name, options, _ := strings.Cut(tag, ",")
	t := fieldTag{name: name}
	for option := range strings.SplitSeq(options, ",") {
		t.inline = t.inline || option == "inline"
		t.omitEmpty = t.omitEmpty || option == "omitempty"
	}
	if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct && !unmarshals(f.Type) {
		t.inline = true
	}
	switch {
	case t.inline:
		t.name = ""
	case name == "":
		t.name = f.Name
	}
	return t
}

// unmarshals reports whether values of a type, or pointers to them, decode themselves from JSON.
func unmarshals(t reflect.Type) bool {
	unmarshaler := reflect.TypeFor[json.Unmarshaler]()
	return t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler)
}
