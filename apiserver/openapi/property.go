package openapi

import (
	"fmt"
	"reflect"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecascade/kubecascade/apiserver/openapi/markers"
)

// property returns the schema of a field without its description.
func (b *structure) property(f reflect.StructField, mark markers.Field) spec.Schema {
	s := b.value(f.Type)
	if !b.v2 {
		s.Default = mark.Default
		if s.Default == nil {
			s.Default = impliedDefault(f.Type, tagOf(f).omitEmpty)
		}
	}
	for _, tag := range [...]struct{ name, extension string }{
		{"patchMergeKey", "x-kubernetes-patch-merge-key"},
		{"patchStrategy", "x-kubernetes-patch-strategy"},
	} {
		if value := f.Tag.Get(tag.name); value != "" {
			extend(&s, tag.extension, value)
		}
	}
	if mark.ListType != "" {
		extend(&s, "x-kubernetes-list-type", mark.ListType)
	}
	if len(mark.ListMapKeys) > 0 {
		keys := make([]any, len(mark.ListMapKeys))
		for i, key := range mark.ListMapKeys {
			keys[i] = key
		}
		extend(&s, "x-kubernetes-list-map-keys", keys)
	}
	if mark.MapType != "" {
		extend(&s, "x-kubernetes-map-type", mark.MapType)
	}
	return s
}

// value returns the schema of a value of any type. Elements of lists and maps have no defaults (V-099).
func (b *structure) value(t reflect.Type) spec.Schema {
	enum := b.enum(t)
	t = dereference(t)
	var s spec.Schema
	switch t.Kind() {
	case reflect.Struct:
		name := b.add(t)
		b.refers = append(b.refers, name)
		return b.reference(name)
	case reflect.Map:
		element := b.value(t.Elem())
		s.Type = []string{"object"}
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &element}
	case reflect.Slice, reflect.Array:
		if t.Elem() == reflect.TypeFor[byte]() {
			s.Type, s.Format = []string{"string"}, "byte"
			break
		}
		element := b.value(t.Elem())
		s.Type = []string{"array"}
		s.Items = &spec.SchemaOrArray{Schema: &element}
	case reflect.Interface:
		// An interface may have any value. kube-openapi's generator calls that an object.
		if t.NumMethod() == 0 {
			s.Type = []string{"object"}
		}
	default:
		typ, format := scalar(t)
		s.Type, s.Format = []string{typ}, format
		for _, value := range enum {
			s.Enum = append(s.Enum, value)
		}
	}
	return s
}

// enum returns the values of a string type, or nil.
func (b *structure) enum(t reflect.Type) []string {
	t = dereference(t)
	if t.Kind() != reflect.String {
		return nil
	}
	return b.markers.Enum(t.PkgPath(), t.Name())
}

// scalar returns the type and format of a simple kind.
func scalar(t reflect.Type) (typ, format string) {
	if typ, format = common.OpenAPITypeFormat(t.Kind().String()); typ == "" {
		panic(fmt.Sprintf("openapi: no schema for a %s", t)) // the API's types are known when the program is built
	}
	return typ, format
}

// impliedDefault returns the value that a missing field has after decoding, if it is not null: {} for a struct, the
// zero value for a field without omitempty. It is null for a type that decodes itself (kube-openapi
// pkg/generators:mustEnforceDefault).
func impliedDefault(t reflect.Type, omitEmpty bool) any {
	switch t.Kind() {
	case reflect.Struct:
		if unmarshals(t) {
			return nil
		}
		if t.NumField() == 1 && t.Field(0).Anonymous {
			return impliedDefault(t.Field(0).Type, omitEmpty)
		}
		return map[string]any{}
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array, reflect.Interface:
		return nil
	}
	if omitEmpty {
		return nil
	}
	switch typ, _ := scalar(t); typ {
	case "string":
		return ""
	case "boolean":
		return false
	}
	return 0.
}
