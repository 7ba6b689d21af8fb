package weight

import (
	"bytes"
	"errors"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// counted is the estimate, in bytes, up to which only a document's punctuation is counted.
const counted = 512 << 10

// JSON is the size of a document that is decoded into the kind.
func (k *Kind) JSON(data []byte) Size {
	bound := k.Anywhere(data)
	if k.Type == nil || bound.Write() <= counted {
		return bound
	}
	if size, ok := k.walk(data); ok {
		return size
	}
	return bound
}

// JSON is the size of a document that is decoded into the type, whatever kind it has.
func (s *Shape) JSON(data []byte) Size {
	bound := s.Anywhere(data)
	if s.kind == tree || bound.Write() <= counted {
		return bound
	}
	w := walk{Scanner: jsonscan.New(data)}
	if w.value(s, 0); w.Done() || w.tooDeep() {
		return w.size()
	}
	return bound
}

// walk is the size of a JSON document. ok is false if it is malformed or of another kind.
func (k *Kind) walk(data []byte) (size Size, ok bool) {
	w := walk{Scanner: jsonscan.New(data), kind: k}
	w.value(k.Shape(), 0)
	return w.size(), w.Done() && !w.other || w.tooDeep()
}

// Anywhere is the size of a JSON document whose values may be decoded into any part of any kind.
func (k *Kind) Anywhere(data []byte) Size { return count(data, k.worst()) }

// Anywhere is the size of a JSON document whose values may be decoded into any part of the type.
func (s *Shape) Anywhere(data []byte) Size { return count(data, s.worst) }

// count relies on this: there is at most one value more than commas, braces and brackets, even if those in strings
// count.
func count(data []byte, worst int64) Size {
	n := int64(1 + bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{'{'}) + bytes.Count(data, []byte{'['}))
	return Size{Elements: n * worst, Values: n, Bytes: int64(len(data))}
}

// walk scans a document along a type.
type walk struct {
	jsonscan.Scanner
	elements, values int64
	// kind is the expected kind, nil for any; other says that the document has another one.
	kind  *Kind
	other bool
	// name is the buffer for unescaped names.
	name []byte
}

// size is that of the scanned part of the document.
func (w *walk) size() Size {
	return Size{Elements: w.elements, Values: w.values, Bytes: int64(w.Len())}
}

// tooDeep reports whether the walk has ended at a depth at which every decoder ends, too.
func (w *walk) tooDeep() bool { return errors.Is(w.Err(), jsonscan.ErrDepth) }

// value scans a value. into may be nil: a value that is not decoded is counted.
func (w *walk) value(into *Shape, size int64) {
	w.elements += size
	w.values++
	c := w.Peek()
	for into != nil && c != 'n' && (into.kind == either || into.kind == pointer) { // null does not change a pointer
		if into.kind == either {
			into = into.inside(c)
			continue
		}
		w.elements += into.size
		into = into.elem
	}
	switch {
	case w.Open('{'):
		w.object(into)
	case w.Open('['):
		w.array(into)
	default:
		w.Skip()
	}
}

// object scans the members of an object.
func (w *walk) object(into *Shape) {
	var size, once int64
	switch {
	case into == nil:
	case into.kind == table:
		size, once = into.size, into.first
	case into.kind == tree:
		size = treeElement
	}
	for first := true; ; first = false {
		written, _, ok := w.Key(first)
		if !ok {
			return
		}
		if first {
			w.elements += once
		}
		name := written.Raw
		if !written.Plain {
			w.name = written.Append(w.name[:0])
			name = w.name
		}
		if w.Depth() == 1 && w.kind != nil {
			w.compare(name)
		}
		w.value(into.member(name), size)
	}
}

// compare compares a member at the top of a document with the kind. Decoders match the names of apiVersion and kind
// regardless of case.
func (w *walk) compare(name []byte) {
	var want string
	switch {
	case bytes.EqualFold(name, []byte("kind")):
		want = w.kind.Name
	case bytes.EqualFold(name, []byte("apiVersion")):
		want = w.kind.APIVersion
	}
	if want == "" || w.Peek() != '"' {
		return
	}
	at := w.Offset()
	got := w.ReadString()
	w.other = w.other || len(got.Raw) > 0 && !got.Is(want)
	if w.Err() == nil {
		w.Seek(at)
	}
}

// array scans the elements of a list.
func (w *walk) array(into *Shape) {
	var size int64
	var elem *Shape
	switch {
	case into == nil:
	case into.kind == list:
		size, elem = into.size, into.elem
	case into.kind == tree:
		size, elem = treeElement, into
	}
	for first := true; w.More(first, ']'); first = false {
		w.value(elem, size)
	}
}

// member is the shape of the member with this name.
func (s *Shape) member(name []byte) *Shape {
	if s == nil {
		return nil
	}
	switch s.kind {
	case structure:
		return s.fields[string(name)]
	case table:
		return s.elem
	case tree:
		return s
	}
	return nil
}

// Indented is the maximum length in bytes of a JSON document that is indented by two spaces per level.
func Indented(data []byte) (n int64) {
	var depth int64
	for _, c := range jsonscan.Marks(data) {
		switch c {
		case '{', '[':
			depth++
			n += 2*depth + 1
		case '}', ']':
			depth--
			n += 2*depth + 1
		case ',':
			n += 2*depth + 1
		case ':':
			n++
		}
	}
	return n + int64(len(data))
}
