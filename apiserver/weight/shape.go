package weight

import (
	"reflect"
	"sync"

	"github.com/kubecascade/kubecascade/internal/jsonfield"
)

// kind is how a value is decoded.
type kind uint8

const (
	// leaf: into what the parent has room for already, and a string of no more than the document's bytes.
	leaf kind = iota
	// structure: by fields.
	structure
	// list: into elements.
	list
	// table: into entries of a map.
	table
	// pointer: into something of its own.
	pointer
	// either: a type that decodes itself, into whichever of its fields fits (JSONSchemaPropsOrArray).
	either
	// tree: into any JSON values.
	tree
)

// Shape is what is known of a Go type.
type Shape struct {
	kind kind
	// size is the memory of one element or entry, or of what a pointer points to.
	size int64
	// first is what a map takes besides, as soon as it has an entry.
	first int64
	elem  *Shape
	// fields are by their names in JSON, numbers by those in protobuf. A list or a map that has a message of its own
	// is that one's first field.
	fields  map[string]*Shape
	numbers map[uint64]*Shape
	// around is the message that has the shape as its second field: a map's entry has its value so, and what is stored
	// in protobuf its object.
	around *Shape
	// worst is the most memory that one value can take, anywhere in the type.
	worst int64
}

// Kind is what a document is to be of. A decoder takes it for what the document says it is, and only then finds that it
// isn't what was expected.
type Kind struct {
	// Type is the Go type, nil for any JSON values. Its shape is made when a document is first walked through: one of
	// Pods takes a millisecond and a hundred KiB.
	Type reflect.Type
	// APIVersion and Name are what the document may say; empty for anything.
	APIVersion, Name string
	// Worst is the most memory that a value takes in any kind that the decoder knows, this one among them; 0 if it
	// knows no other.
	Worst int64
}

// Shape is that of the kind's type.
func (k *Kind) Shape() *Shape {
	if k.Type == nil {
		return Tree
	}
	return Of(k.Type)
}

// worst is the most memory that a value takes, of whatever kind a document is.
func (k *Kind) worst() int64 {
	if k.Worst > 0 {
		return k.Worst
	}
	return k.Shape().worst
}

// Worst is the most memory that one value takes anywhere in the type.
func (s *Shape) Worst() int64 { return s.worst }

// Tree is the shape of unstructured objects and of patches.
var Tree = &Shape{kind: tree, worst: treeElement}

// shapes are those of whole types, by reflect.Type.
var shapes sync.Map

// Of returns the shape of a type.
func Of(t reflect.Type) *Shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*Shape)
	}
	b := builder{made: map[reflect.Type]*Shape{}}
	s := b.shape(t)
	for _, in := range b.made {
		s.worst = max(s.worst, in.own())
		if in.kind == list || in.kind == table {
			s.worst = max(s.worst, in.size+in.elem.own())
		}
	}
	s.around = &Shape{kind: structure, numbers: map[uint64]*Shape{2: s}}
	got, _ := shapes.LoadOrStore(t, s)
	return got.(*Shape)
}

// own is what a value of the shape takes besides its room in what it is in, before anything is in it.
func (s *Shape) own() (n int64) {
	switch s.kind {
	case pointer:
		return s.size + s.elem.own()
	case table:
		return s.first
	case either:
		for _, in := range s.numbers {
			n = max(n, in.own())
		}
	}
	return n
}

// inEntry is the largest element that Go's maps have in their entries (internal/abi: MapMaxElemBytes).
const inEntry = 128

// builder makes the shapes of a type and of all types in it.
type builder struct{ made map[reflect.Type]*Shape }

func (b *builder) shape(t reflect.Type) *Shape {
	if s := b.made[t]; s != nil {
		return s
	}
	s := &Shape{}
	b.made[t] = s // before what is in it, which may have it as well
	switch t.Kind() {
	case reflect.Interface:
		s.kind, s.size = tree, treeElement
	case reflect.Pointer:
		s.kind, s.size = pointer, int64(t.Elem().Size())
		s.elem = b.shape(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			break
		}
		s.kind, s.size = list, int64(t.Elem().Size())
		s.elem = b.shape(t.Elem())
	case reflect.Map:
		// Go's maps are filled by half at worst. The first group has eight entries. Large elements are apart.
		entry, apart := int64(t.Key().Size()+t.Elem().Size()), int64(0)
		if t.Elem().Size() > inEntry {
			entry, apart = int64(t.Key().Size())+8, int64(t.Elem().Size())
		}
		s.kind, s.size, s.first = table, 2*entry+apart, 8*entry+64
		s.elem = b.shape(t.Elem())
		s.around = &Shape{kind: structure, numbers: map[uint64]*Shape{2: s.elem}}
	case reflect.Struct:
		b.structure(s, t)
	}
	if s.kind == list || s.kind == table {
		s.numbers = map[uint64]*Shape{1: s}
	}
	return s
}

// structure fills in the shape of a struct.
func (b *builder) structure(s *Shape, t reflect.Type) {
	s.fields, s.numbers = map[string]*Shape{}, map[uint64]*Shape{}
	d := jsonfield.Of(t)
	for i := range d.Fields {
		f := &d.Fields[i]
		in := b.shape(f.Type)
		if f.Name != "" {
			s.fields[f.Name] = in
		}
		if f.Number > 0 {
			s.numbers[f.Number] = in
		} else if n := s.lastly(in); n > 0 {
			s.numbers[n] = in
		}
	}
	s.kind = structure
	if d.Unmarshals {
		s.kind = either
	}
}

// lastly is a number that isn't taken, for a field that is reached by its kind only (see either).
func (s *Shape) lastly(in *Shape) uint64 {
	if in.kind == leaf || in.kind == tree {
		return 0
	}
	return uint64(1<<40 + len(s.numbers))
}

// inside is what of an either fits a value that begins with an opening bracket or brace; nil if nothing does.
func (s *Shape) inside(open byte) *Shape {
	for _, in := range s.numbers {
		to := in
		if in.kind == pointer {
			to = in.elem
		}
		if open == '[' && to.kind == list || open == '{' && (to.kind == structure || to.kind == table) {
			return in
		}
	}
	return nil
}
