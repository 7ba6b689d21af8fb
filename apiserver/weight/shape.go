package weight

import (
	"reflect"
	"sync"

	"github.com/kubecascade/kubecascade/internal/jsonfield"
)

// kind is how a value is decoded.
type kind uint8

const (
	// leaf: needs no memory besides its parent's, except for a string, which is no longer than the document.
	leaf kind = iota
	// structure: has fields.
	structure
	// list: has elements.
	list
	// table: has the entries of a map.
	table
	// pointer: allocates its target.
	pointer
	// either: a type that decodes itself, into the one of its fields that fits (JSONSchemaPropsOrArray).
	either
	// tree: any JSON values.
	tree
)

// Shape describes a Go type.
type Shape struct {
	kind kind
	// size is the memory of one element or entry, or of the target of a pointer.
	size int64
	// first is the memory of a map besides its entries, allocated with the first one.
	first int64
	elem  *Shape
	// fields are by their JSON names, numbers by their protobuf numbers. If a list or map has a message of its own, it
	// is the first field of that message.
	fields  map[string]*Shape
	numbers map[uint64]*Shape
	// around is the message that has the shape as its second field: the entry of a map has its value there, and a
	// stored protobuf object its content.
	around *Shape
	// worst is the largest memory of one value anywhere in the type.
	worst int64
}

// Kind is the expected kind of a document. A decoder decodes a document by the kind that it states, and only then
// rejects another kind.
type Kind struct {
	// Type is the Go type, nil for any JSON values. Its shape is made when a document is first scanned: that of Pods
	// takes a millisecond and 100 KiB.
	Type reflect.Type
	// APIVersion and Name are what the document may state; empty for any.
	APIVersion, Name string
	// Worst is the largest memory of a value in any kind that the decoder knows, including this one; 0 if it knows no
	// other.
	Worst int64
}

// Shape is the shape of the kind's type.
func (k *Kind) Shape() *Shape {
	if k.Type == nil {
		return Tree
	}
	return Of(k.Type)
}

// worst is the largest memory of a value, whatever the kind of the document.
func (k *Kind) worst() int64 {
	if k.Worst > 0 {
		return k.Worst
	}
	return k.Shape().worst
}

// Worst is the largest memory of one value anywhere in the type.
func (s *Shape) Worst() int64 { return s.worst }

// Tree is the shape of unstructured objects and of patches.
var Tree = &Shape{kind: tree, worst: treeElement}

// shapes are the shapes of whole types, by reflect.Type.
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

// own is the memory that an empty value of the shape takes besides its place in its parent.
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

// inEntry is the size of the largest element that Go's maps store in their entries (internal/abi: MapMaxElemBytes).
const inEntry = 128

// builder makes the shapes of a type and of all types that it contains.
type builder struct{ made map[reflect.Type]*Shape }

func (b *builder) shape(t reflect.Type) *Shape {
	if s := b.made[t]; s != nil {
		return s
	}
	s := &Shape{}
	b.made[t] = s // before its fields, which may contain it
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
		// In the worst case Go's maps are half full. The first group has eight entries. Large elements are stored
		// separately.
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

// structure sets the shape of a struct.
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

// lastly is an unused number, for a field that is reached only by its kind (see either).
func (s *Shape) lastly(in *Shape) uint64 {
	if in.kind == leaf || in.kind == tree {
		return 0
	}
	return uint64(1<<40 + len(s.numbers))
}

// inside is the field of an either for a value that begins with this bracket or brace; nil if there is none.
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
