package openapi

import (
	"reflect"
	"sync"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecascade/kubecascade/apiserver/openapi/markers"
)

// dialect has the differences between v2 and v3.
type dialect struct {
	// refs is the prefix of a schema's name in a $ref.
	refs string
	// v2 has no oneOf. Its documents have no defaults, because old clients rejected them (AS
	// pkg/server/routes/openapi.go).
	v2 bool
}

var (
	v2 = dialect{refs: "#/definitions/", v2: true}
	v3 = dialect{refs: "#/components/schemas/"}
)

// reference returns a schema that is only a $ref.
func (d dialect) reference(name string) spec.Schema {
	return spec.Schema{SchemaProps: spec.SchemaProps{Ref: spec.MustCreateRef(d.refs + common.EscapeJsonPointer(name))}}
}

// definitions has the schemas of a document that is being built.
type definitions struct {
	dialect
	markers *markers.Set
	schemas map[string]common.OpenAPIDefinition
	// bare omits the descriptions.
	bare bool
	// documentation returns the descriptions of types without their own (see generatedDefinitions).
	documentation func() map[string]common.OpenAPIDefinition
}

func newDefinitions(d dialect) *definitions {
	return &definitions{
		dialect:       d,
		markers:       markers.Load(),
		schemas:       map[string]common.OpenAPIDefinition{},
		documentation: sync.OnceValue(generatedDefinitions),
	}
}

// add adds the schemas of a struct type and of all types that it refers to, and returns its name.
func (d *definitions) add(t reflect.Type) string {
	name := modelName(t)
	if _, ok := d.schemas[name]; ok {
		return name
	}
	// A type may refer to itself (JSONSchemaProps), so the name is added first.
	d.schemas[name] = common.OpenAPIDefinition{}
	b := &structure{definitions: d}
	d.schemas[name] = common.OpenAPIDefinition{Schema: b.build(t), Dependencies: b.refers}
	return name
}

// ownSchema is implemented by types with their own JSON encoding.
type ownSchema interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

// ownAlternatives is implemented by types whose encoding has several JSON types. Only v3 shows them.
type ownAlternatives interface{ OpenAPIV3OneOfTypes() []string }

// structure builds the schema of one struct.
type structure struct {
	*definitions
	// refers are the names of the schemas that the schema refers to.
	refers []string
}

func (b *structure) build(t reflect.Type) spec.Schema {
	texts := b.describe(t)
	s := spec.Schema{SchemaProps: spec.SchemaProps{Description: texts.text}}
	marks := b.markers.Type(t.PkgPath(), t.Name())
	if own, ok := zero[ownSchema](t); ok {
		s.Type, s.Format = own.OpenAPISchemaType(), own.OpenAPISchemaFormat()
		if many, ok := zero[ownAlternatives](t); ok && !b.v2 {
			s.Type = nil
			for _, typ := range many.OpenAPIV3OneOfTypes() {
				s.OneOf = append(s.OneOf, spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{typ}}})
			}
		}
	} else {
		s.Type = []string{"object"}
		b.members(t, texts, &s)
	}
	if marks.MapType != "" {
		extend(&s, "x-kubernetes-map-type", marks.MapType)
	}
	if unions := b.unions(t); len(unions) > 0 {
		extend(&s, "x-kubernetes-unions", unions)
	}
	return s
}

// members adds the fields of a struct, including those of inlined structs.
func (b *structure) members(t reflect.Type, texts description, s *spec.Schema) {
	marks := b.markers.Type(t.PkgPath(), t.Name()).Fields
	for i := range t.NumField() {
		f := t.Field(i)
		tag := tagOf(f)
		name := tag.name
		switch {
		case tag.inline:
			inner := dereference(f.Type)
			b.members(inner, b.describe(inner), s)
			continue
		case name == "" || !f.IsExported():
			continue
		}
		mark := marks[name]
		if isRequired(tag, mark) {
			s.Required = append(s.Required, name)
		}
		property := b.property(f, mark)
		property.Description = texts.fields[name]
		if !texts.complete {
			property.Description = describeEnum(property.Description, b.enum(f.Type))
		}
		s.SetProperty(name, property)
	}
}

// unions returns the unions of the struct itself, followed by those of inlined structs.
func (b *structure) unions(t reflect.Type) []any {
	var all []any
	if u := b.markers.Type(t.PkgPath(), t.Name()).Union; u != nil {
		members := map[string]any{}
		for name, value := range u.Members {
			members[name] = value
		}
		union := map[string]any{"fields-to-discriminateBy": members}
		if u.Discriminator != "" {
			union["discriminator"] = u.Discriminator
		}
		all = append(all, union)
	}
	for i := range t.NumField() {
		if tagOf(t.Field(i)).inline {
			all = append(all, b.unions(dereference(t.Field(i).Type))...)
		}
	}
	return all
}

// isRequired reports whether a field is required, as in kube-openapi's generator: the markers decide first, then
// omitempty. It ignores omitzero (pkg/generators/openapi.go:isOptional).
func isRequired(tag fieldTag, mark markers.Field) bool {
	switch mark.Presence {
	case "required":
		return true
	case "optional":
		return false
	}
	return !tag.omitEmpty
}

func extend(s *spec.Schema, key string, value any) {
	if s.Extensions == nil {
		s.Extensions = spec.Extensions{}
	}
	s.Extensions[key] = value
}

// dereference returns the target type of a pointer, or any other type itself.
func dereference(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
