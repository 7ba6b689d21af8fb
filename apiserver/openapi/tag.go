package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
)

// fieldTag has the content of a field's tag for JSON.
type fieldTag struct {
	// name is the field's name in JSON; empty if the field isn't in JSON, or is inlined.
	name string
	// inline is set if the fields of the field's struct are inlined in its place.
	inline, omitEmpty bool
}

// tagOf reads the tag of a field. Without a name in the tag it is the Go field's.
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
