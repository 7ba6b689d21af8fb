package storage

import (
	"fmt"
	"strconv"
)

// cut says where in an object's JSON its resourceVersion belongs.
type cut struct {
	// from and to are what to replace: the value that is there, or nothing.
	from, to int
	// before and after go around the digits.
	before, after string
}

// apply returns the JSON with the revision in place. It shares nothing with b.
func (c cut) apply(b []byte, rev int64) []byte {
	out := make([]byte, 0, len(b)-(c.to-c.from)+len(c.before)+len(c.after)+20)
	out = append(out, b[:c.from]...)
	out = append(out, c.before...)
	out = strconv.AppendInt(out, rev, 10)
	out = append(out, c.after...)
	return append(out, b[c.to:]...)
}

// place finds the cut while the members of a metadata object pass by. Kubernetes writes those of
// its Go types in the order of ObjectMeta's fields, resourceVersion after uid; those of custom and other
// unstructured objects in the order of their names.
type place struct {
	// typed says which order is used.
	typed bool
	// next is where the first member stands that comes later; 0 if there is none.
	next  int
	empty bool
	// from and to are the present value; 0 if there is none.
	from, to int
}

// newPlace begins an object of which the first member's name is known.
func newPlace(first text) place { return place{typed: first.is("kind"), empty: true} }

// see notes the member whose name stands at the offset.
func (p *place) see(name text, at int) {
	p.empty = false
	if p.next == 0 && p.later(name) {
		p.next = at
	}
}

// later reports whether a member comes after resourceVersion.
func (p *place) later(name text) bool {
	if !p.typed {
		return string(name.raw) > "resourceVersion"
	}
	switch string(name.raw) {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
		return false
	}
	return true
}

// cut returns the result, when the metadata's bracket has been passed at end.
func (p *place) cut(end int) cut {
	switch {
	case p.to > 0:
		return cut{p.from, p.to, `"`, `"`}
	case p.next > 0:
		return cut{p.next, p.next, `"resourceVersion":"`, `",`}
	case p.empty:
		return cut{end - 1, end - 1, `"resourceVersion":"`, `"`}
	}
	return cut{end - 1, end - 1, `,"resourceVersion":"`, `"`}
}

// Splice returns stored JSON, without the newline at its end, with metadata.resourceVersion in the
// place where Kubernetes prints it; one that is there is replaced. A revision of 0 leaves the JSON
// as it is, like an object that was never stored. The result never shares memory with stored unless rev
// is 0. Errors: ErrCorrupt if it is no JSON object with metadata.
func Splice(stored []byte, rev int64) ([]byte, error) {
	b := trim(stored)
	s := scan{b: b}
	c := s.locate()
	if err := s.end(c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if rev == 0 {
		return b, nil
	}
	return c.apply(b, rev), nil
}

// Member returns where the value of a member of a JSON object stands, of the first with that name; from and to
// are 0 if there is none.
func Member(object []byte, name string) (from, to int) {
	s := scan{b: object}
	if !s.open('{') {
		return 0, 0
	}
	for first := true; ; first = false {
		n, _, ok := s.key(first)
		if !ok {
			return 0, 0
		}
		s.peek()
		from = s.i
		if s.skip(); s.err != nil {
			return 0, 0
		}
		if n.is(name) {
			return from, s.i
		}
	}
}

// locate passes an object and finds the cut; that of the last metadata, if there are several.
func (s *scan) locate() (c cut) {
	if !s.open('{') {
		return c
	}
	var typed text
	for first := true; ; first = false {
		name, _, ok := s.key(first)
		if !ok {
			return c
		}
		if first {
			typed = name
		}
		if name.is("metadata") && s.open('{') {
			c = s.locateIn(newPlace(typed))
		} else {
			s.skip()
		}
	}
}

// locateIn passes the members of metadata.
func (s *scan) locateIn(p place) cut {
	for first := true; ; first = false {
		name, at, ok := s.key(first)
		if !ok {
			return p.cut(s.i)
		}
		p.see(name, at)
		s.peek()
		from := s.i
		s.skip()
		if name.is("resourceVersion") {
			p.from, p.to = from, s.i
		}
	}
}

// end reports what is wrong with the JSON object that has been passed.
func (s *scan) end(c cut) error {
	switch {
	case s.err != nil:
		return s.err
	case s.i == 0 || s.peek() != 0 || s.i < len(s.b):
		s.fail("no JSON object")
	case c.to == 0:
		s.fail("no metadata")
	}
	return s.err
}

// trim drops white space around a value; kube-apiserver ends each with a newline.
func trim(b []byte) []byte {
	space := func(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
	for len(b) > 0 && space(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	for len(b) > 0 && space(b[0]) {
		b = b[1:]
	}
	return b
}
