package expression

import (
	"maps"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Resolve returns the named schema with each reference replaced by the schema that it refers to, or nil if one does not
// exist. A reference to a schema that contains the reference is replaced by the schema of an empty object (AS
// pkg/cel/openapi/resolver/refs.go: PopulateRefs; its package imports a discovery client). It does not modify the
// schemas. The result shares memory with them.
func Resolve(name string, schemas map[string]*spec.Schema) *spec.Schema {
	r := resolution{schemas, map[string]bool{}}
	return r.named(name)
}

type resolution struct {
	schemas map[string]*spec.Schema
	within  map[string]bool // the names of the schemas that are being resolved
}

func (r *resolution) named(name string) *spec.Schema {
	s := r.schemas[name]
	if s == nil {
		return nil
	}
	if r.within[name] {
		return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	}
	r.within[name] = true
	defer delete(r.within, name)
	return r.resolve(s)
}

func (r *resolution) resolve(s *spec.Schema) *spec.Schema {
	if ref := reference(s); ref != "" {
		return r.named(ref[strings.LastIndex(ref, "/")+1:])
	}
	out := *s
	out.Properties = maps.Clone(s.Properties)
	for name, property := range out.Properties {
		resolved := r.resolve(&property)
		if resolved == nil {
			return nil
		}
		out.Properties[name] = *resolved
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		resolved := r.resolve(a.Schema)
		if resolved == nil {
			return nil
		}
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: a.Allows, Schema: resolved}
	}
	if i := s.Items; i != nil && i.Schema != nil {
		resolved := r.resolve(i.Schema)
		if resolved == nil {
			return nil
		}
		out.Items = &spec.SchemaOrArray{Schema: resolved}
	}
	return &out
}

// reference returns the reference of a schema, or an empty string. A reference with a description is in allOf.
func reference(s *spec.Schema) string {
	if s.Ref.GetURL() != nil {
		return s.Ref.String()
	}
	for i := range s.AllOf {
		if ref := reference(&s.AllOf[i]); ref != "" {
			return ref
		}
	}
	return ""
}
