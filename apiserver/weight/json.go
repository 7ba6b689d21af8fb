package weight

import "bytes"

const (
	// counted is the estimate up to which a document's punctuation is counted only.
	counted = 512 << 10
	// deepest is how deep decoders of JSON go.
	deepest = 10000
)

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

// JSON is the size of a document that is decoded into the type, whatever kind it names.
func (s *Shape) JSON(data []byte) Size {
	bound := s.Anywhere(data)
	if s.kind == tree || bound.Write() <= counted {
		return bound
	}
	w := walk{data: data}
	if w.value(s, 0) && !w.rest() || w.depth > deepest { // no decoder reads so deep
		return w.size()
	}
	return bound
}

// walk is the size of a JSON document. It isn't known (ok is false) of what isn't JSON, or names another kind.
func (k *Kind) walk(data []byte) (size Size, ok bool) {
	w := walk{data: data, kind: k}
	ok = w.value(k.Shape(), 0) && !w.rest() && !w.other
	return w.size(), ok || w.depth > deepest // no decoder reads so deep
}

// Anywhere is the size of a JSON document whose values may be decoded into any part of any kind.
func (k *Kind) Anywhere(data []byte) Size { return count(data, k.worst()) }

// Anywhere is the size of a JSON document whose values may be decoded into any part of the type.
func (s *Shape) Anywhere(data []byte) Size { return count(data, s.worst) }

// count: every value is one more than there are commas, braces and brackets at most, also if commas in strings count.
func count(data []byte, worst int64) Size {
	n := int64(1 + bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{'{'}) + bytes.Count(data, []byte{'['}))
	return Size{Elements: n * worst, Values: n, Bytes: int64(len(data))}
}

// walk reads a document along a type.
type walk struct {
	data             []byte
	at               int
	elements, values int64
	depth            int
	// kind is what the document is to be of, nil for any; other says that it isn't.
	kind  *Kind
	other bool
}

func (w *walk) size() Size {
	return Size{Elements: w.elements, Values: w.values, Bytes: int64(len(w.data))}
}

// space passes over white space, and returns what follows; 0 at the end.
func (w *walk) space() byte {
	for ; w.at < len(w.data); w.at++ {
		switch c := w.data[w.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

// rest reports whether anything follows.
func (w *walk) rest() bool { return w.space() != 0 }

// value reads a value, and reports false if it is none. into may be nil: what isn't decoded is counted.
func (w *walk) value(into *Shape, size int64) bool {
	w.elements += size
	w.values++
	c := w.space()
	for into != nil && c != 'n' && (into.kind == either || into.kind == pointer) { // null leaves a pointer as it is
		if into.kind == either {
			into = into.inside(c)
			continue
		}
		w.elements += into.size
		into = into.elem
	}
	switch c {
	case '{':
		return w.object(into)
	case '[':
		return w.array(into)
	case '"':
		_, ok := w.text()
		return ok
	case 0, ',', ':', '}', ']':
		return false
	}
	for w.at < len(w.data) { // a number, or a word
		switch w.data[w.at] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return true
		case '"', '{', '[', ':':
			return false
		}
		w.at++
	}
	return true
}

// text reads a string, and returns what is between its quotes.
func (w *walk) text() (found []byte, ok bool) {
	w.at++
	from := w.at
	for {
		i := bytes.IndexByte(w.data[w.at:], '"')
		if i < 0 {
			return nil, false
		}
		w.at += i + 1
		end := w.at - 1
		escapes := 0
		for end-escapes > from && w.data[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return w.data[from:end], true
		}
	}
}

// object reads an object; at stands at its brace.
func (w *walk) object(into *Shape) bool {
	if !w.open() {
		return false
	}
	var size, first int64
	switch {
	case into == nil:
	case into.kind == table:
		size, first = into.size, into.first
	case into.kind == tree:
		size = treeElement
	}
	if w.space() == '}' {
		return w.close()
	}
	w.elements += first
	for {
		if w.space() != '"' {
			return false
		}
		name, ok := w.text()
		if !ok || w.space() != ':' {
			return false
		}
		w.at++
		if w.depth == 1 && w.kind != nil {
			w.names(name)
		}
		if !w.value(into.member(name), size) {
			return false
		}
		if w.space() == ',' {
			w.at++
			continue
		}
		return w.space() == '}' && w.close()
	}
}

// names compares what stands at the top of a document under a name with the kind. Decoders find the kind without regard
// to case.
func (w *walk) names(name []byte) {
	var want string
	switch {
	case bytes.EqualFold(name, []byte("kind")):
		want = w.kind.Name
	case bytes.EqualFold(name, []byte("apiVersion")):
		want = w.kind.APIVersion
	default:
		w.other = w.other || bytes.IndexByte(name, '\\') >= 0 // it may be either
		return
	}
	if want == "" || w.space() != '"' {
		return
	}
	at := w.at
	got, _ := w.text()
	w.at = at
	w.other = w.other || len(got) > 0 && string(got) != want
}

// array reads a list; at stands at its bracket.
func (w *walk) array(into *Shape) bool {
	if !w.open() {
		return false
	}
	var size int64
	var elem *Shape
	switch {
	case into == nil:
	case into.kind == list:
		size, elem = into.size, into.elem
	case into.kind == tree:
		size, elem = treeElement, into
	}
	if w.space() == ']' {
		return w.close()
	}
	for {
		if !w.value(elem, size) {
			return false
		}
		if w.space() == ',' {
			w.at++
			continue
		}
		return w.space() == ']' && w.close()
	}
}

func (w *walk) open() bool {
	w.at++
	w.depth++
	return w.depth <= deepest
}

func (w *walk) close() bool {
	w.at++
	w.depth--
	return true
}

// member is the shape of what stands under a name.
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

// Indented is how many bytes a JSON document has at most that is indented by two spaces a level.
func Indented(data []byte) (n int64) {
	var depth int64
	text := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			depth++
			n += 2*depth + 1
		case c == '}' || c == ']':
			depth--
			n += 2*depth + 1
		case c == ',':
			n += 2*depth + 1
		case c == ':':
			n++
		}
	}
	return n + int64(len(data))
}
