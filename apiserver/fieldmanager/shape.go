package fieldmanager

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubecascade/kubecascade/internal/jsonfield"
)

// form is how the fields of a value are identified.
type form uint8

const (
	// opaque values are left to structured-merge-diff.
	opaque form = iota
	leaf
	structure
	mapping
	// keyed lists have elements with keys, sets have scalars.
	keyed
	set
)

// shape describes a Go type by the schema of its kind: how the set of its fields is encoded. It is immutable once made.
type shape struct {
	form form
	// atomic values are one field, whatever they contain.
	atomic bool
	// fragile says of an atomic shape that its Go type allows values that violate the schema.
	fragile bool
	// ownJSON types have their own JSON encoding; free ones may encode to any JSON.
	ownJSON, free bool
	fields        []member
	keys          []member
	// element is the shape of the elements of a list or map.
	element *shape
}

// member is a field of a structure, or a key of a list's elements.
type member struct {
	jsonfield.Field
	// written is its name as FieldsV1 has it: `"f:spec":` or, of a key, `name`.
	written string
	// present says that the JSON of an empty structure has it.
	present bool
	// preset is the schema's default, of keys.
	preset any
	// reset says that the endpoint resets the field, so its content has no manager.
	reset bool
	shape *shape
}

// shaper makes shapes by one schema.
type shaper struct {
	schema *smd.Schema
	// made are the shapes of named types, including other schemas': a name is the same type in all.
	made map[shapeKey]*shape
	// atomic are the new shapes for which fragile has not been computed.
	atomic []*shape
}

type shapeKey struct {
	goType   reflect.Type
	name     string
	relation smd.ElementRelationship
}

// shapeOf returns the shape of a kind's objects. Shapes of named types are taken from made, or added to it.
func shapeOf(goType reflect.Type, t *typed.ParseableType, made map[shapeKey]*shape) *shape {
	s := &shaper{schema: t.Schema, made: made}
	root := s.shape(goType, t.TypeRef)
	for _, sh := range s.atomic {
		sh.fragile = sh.breaks(map[*shape]bool{})
	}
	return root
}

func (s *shaper) shape(t reflect.Type, ref smd.TypeRef) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	sh := &shape{}
	if ref.NamedType != nil {
		key := shapeKey{goType: t, name: *ref.NamedType}
		if ref.ElementRelationship != nil {
			key.relation = *ref.ElementRelationship
		}
		if made, ok := s.made[key]; ok {
			return made
		}
		s.made[key] = sh
	}
	if atom, ok := s.schema.Resolve(ref); ok {
		s.fill(sh, t, atom)
	}
	if sh.atomic {
		s.atomic = append(s.atomic, sh)
	}
	return sh
}

// fill leaves a shape opaque if the type and the schema are not combined in one of the usual ways.
func (s *shaper) fill(sh *shape, t reflect.Type, atom smd.Atom) {
	switch sh.ownJSON = jsonfield.Of(t).Marshals; {
	case t == reflect.TypeFor[intstr.IntOrString]():
		sh.form = leaf
	case atom.Scalar != nil && atom.List == nil && atom.Map == nil:
		if sh.ownJSON || scalar(t) {
			sh.form = leaf
		}
	case sh.ownJSON || atom.Scalar != nil || atom.List != nil && atom.Map != nil:
		sh.free = atom.Scalar != nil && atom.List != nil && atom.Map != nil
	case atom.Map != nil && t.Kind() == reflect.Struct:
		s.structure(sh, t, atom.Map)
	case atom.Map != nil && t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && len(atom.Map.Fields) == 0:
		sh.form, sh.atomic = mapping, atom.Map.ElementRelationship == smd.Atomic
		sh.element = s.shape(t.Elem(), atom.Map.ElementType)
	case atom.List != nil && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Pointer:
		s.list(sh, t, atom.List)
	}
}

func (s *shaper) structure(sh *shape, t reflect.Type, m *smd.Map) {
	zero := reflect.Zero(t)
	var fields []member
	for _, f := range jsonfield.Of(t).Fields {
		if f.Name == "" { // not in the JSON
			continue
		}
		declared, ok := m.FindField(f.Name)
		if !ok {
			return
		}
		v := f.In(zero)
		fields = append(fields,
			member{Field: f, written: `"f:` + f.Name + `":`, present: !f.Omits(v), shape: s.shape(f.Type, declared.Type)})
	}
	slices.SortFunc(fields, func(a, b member) int { return strings.Compare(a.Name, b.Name) })
	sh.form, sh.atomic, sh.fields = structure, m.ElementRelationship == smd.Atomic, fields
}

func (s *shaper) list(sh *shape, t reflect.Type, l *smd.List) {
	sh.element = s.shape(t.Elem(), l.ElementType)
	switch {
	case l.ElementRelationship == smd.Atomic:
		sh.form, sh.atomic = set, true
	case l.ElementRelationship != smd.Associative:
	case len(l.Keys) == 0:
		if k := t.Elem().Kind(); sh.element.form == leaf &&
			(k == reflect.String || k == reflect.Int32 || k == reflect.Int64) {
			sh.form = set
		}
	default:
		sh.keys = s.keys(t.Elem(), l)
		if sh.keys != nil {
			sh.form = keyed
		}
	}
}

// keys returns the keys of a list's elements, sorted by name; nil if there are none or they can't be compared here.
func (s *shaper) keys(t reflect.Type, l *smd.List) []member {
	atom, ok := s.schema.Resolve(l.ElementType)
	if !ok || atom.Map == nil || t.Kind() != reflect.Struct {
		return nil
	}
	zero := reflect.Zero(t)
	var keys []member
	for _, f := range jsonfield.Of(t).Fields {
		if slices.Contains(l.Keys, f.Name) {
			declared, _ := atom.Map.FindField(f.Name)
			keys = append(keys, member{Field: f, written: f.Name, present: !f.Omits(f.In(zero)), preset: declared.Default})
		}
	}
	slices.SortFunc(keys, func(a, b member) int { return strings.Compare(a.Name, b.Name) })
	if len(keys) != len(l.Keys) {
		return nil
	}
	return keys
}

// breaks reports whether a value may violate the schema: it has opaque values, or elements without any key.
func (sh *shape) breaks(seen map[*shape]bool) bool {
	if seen[sh] {
		return false
	}
	seen[sh] = true
	if sh.form == opaque {
		return !sh.free
	}
	if sh.form == keyed {
		sure := false
		for _, k := range sh.keys {
			sure = sure || k.present || k.preset != nil
		}
		if !sure {
			return true
		}
	}
	for _, f := range sh.fields {
		if f.shape.breaks(seen) {
			return true
		}
	}
	return sh.element != nil && sh.element.breaks(seen)
}

func scalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Float32, reflect.Float64:
		return true
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8
	}
	return false
}
