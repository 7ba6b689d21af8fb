package storage

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// cut is the place of resourceVersion in an object's JSON, and that of its metadata.
type cut struct {
	// apiVersion and kind are the object's.
	apiVersion, kind string
	// begin and end delimit the value of metadata, the last if there are several.
	begin, end int
	// from and to delimit the bytes to replace: the present value, or nothing.
	from, to int
	// before and after enclose the digits.
	before, after string
	// name is the offset of the present member; from is 0 without one.
	name int
}

// apply returns the JSON with the revision inserted. It shares no memory with b.
func (c cut) apply(b []byte, rev int64) []byte {
	out := make([]byte, 0, len(b)-(c.to-c.from)+len(c.before)+len(c.after)+20)
	out = append(out, b[:c.from]...)
	out = append(out, c.before...)
	out = strconv.AppendInt(out, rev, 10)
	out = append(out, c.after...)
	return append(out, b[c.to:]...)
}

// place finds the cut while the members of metadata are parsed. Kubernetes writes those of its Go types in the order of
// ObjectMeta's fields, with resourceVersion after uid; those of custom and other unstructured objects in the order of
// their names.
type place struct {
	// begin is the offset of the metadata's opening bracket.
	begin int
	// typed says which order is used.
	typed bool
	// next is the offset of the first member that comes after resourceVersion; 0 if there is none.
	next  int
	empty bool
	// from and to delimit the present value, and name is the offset of its member; 0 if there is none.
	from, to, name int
}

// newPlace begins the metadata that the scanner has just opened, of an object whose first member's name is known.
func newPlace(first jsonscan.String, s *jsonscan.Scanner) place {
	return place{begin: s.Offset() - 1, typed: first.Is("kind"), empty: true}
}

// see records the member whose name is at the offset.
func (p *place) see(name jsonscan.String, at int) {
	p.empty = false
	if p.next == 0 && p.later(name) {
		p.next = at
	}
}

// later reports whether a member comes after resourceVersion.
func (p *place) later(name jsonscan.String) bool {
	if !p.typed {
		return string(name.Raw) > "resourceVersion"
	}
	switch string(name.Raw) {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
		return false
	}
	return true
}

// cut returns the result, when the metadata's closing bracket was parsed at end.
func (p *place) cut(end int) cut {
	switch {
	case p.to > 0:
		return cut{begin: p.begin, end: end, from: p.from, to: p.to, before: `"`, after: `"`, name: p.name}
	case p.next > 0:
		return cut{begin: p.begin, end: end, from: p.next, to: p.next, before: `"resourceVersion":"`, after: `",`}
	case p.empty:
		return cut{begin: p.begin, end: end, from: end - 1, to: end - 1, before: `"resourceVersion":"`, after: `"`}
	}
	return cut{begin: p.begin, end: end, from: end - 1, to: end - 1, before: `,"resourceVersion":"`, after: `"`}
}

// Splice returns stored JSON, without the newline at its end, with metadata.resourceVersion where Kubernetes prints it;
// a present one is replaced. A revision of 0 leaves the JSON unchanged, like an object that was never stored. The
// result never shares memory with stored unless rev is 0. Errors: ErrCorrupt if stored is no JSON object with metadata.
func Splice(stored []byte, rev int64) ([]byte, error) {
	b := trim(stored)
	s := jsonscan.New(b)
	c := locate(&s)
	if err := ended(&s, c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if rev == 0 {
		return b, nil
	}
	return c.apply(b, rev), nil
}

// Unsplice returns the JSON of an object without metadata.resourceVersion, as it is stored: what Splice was given. The
// result shares no memory with the object. Errors: ErrCorrupt if that is no JSON object with metadata.
func Unsplice(object []byte) ([]byte, error) {
	s := jsonscan.New(object)
	c := locate(&s)
	if err := ended(&s, c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	switch from, to := c.name, c.to; {
	case from == 0:
		return bytes.Clone(object), nil
	case object[to] == ',': // a member follows it
		return slices.Concat(object[:from], object[to+1:]), nil
	case object[from-1] == ',':
		return slices.Concat(object[:from-1], object[to:]), nil
	default:
		return slices.Concat(object[:from], object[to:]), nil
	}
}

// locate parses an object and finds the cut; that of the last metadata, if there are several.
func locate(s *jsonscan.Scanner) (c cut) {
	if !s.Open('{') {
		return c
	}
	var typed jsonscan.String
	var apiVersion, kind string
	for first := true; ; first = false {
		name, _, ok := s.Key(first)
		if !ok {
			c.apiVersion, c.kind = apiVersion, kind
			return c
		}
		if first {
			typed = name
		}
		switch {
		case name.Is("metadata"):
			if c = (cut{}); s.Open('{') {
				c = locateIn(s, newPlace(typed, s))
			} else {
				s.Skip()
			}
		case name.Is("apiVersion"):
			apiVersion = text(s)
		case name.Is("kind"):
			kind = text(s)
		default:
			s.Skip()
		}
	}
}

// locateIn parses the members of metadata.
func locateIn(s *jsonscan.Scanner, p place) cut {
	for first := true; ; first = false {
		name, at, ok := s.Key(first)
		if !ok {
			return p.cut(s.Offset())
		}
		p.see(name, at)
		s.Peek()
		from := s.Offset()
		s.Skip()
		if name.Is("resourceVersion") {
			p.from, p.to, p.name = from, s.Offset(), at
		}
	}
}

// ended returns the error of the parsed object, if any.
func ended(s *jsonscan.Scanner, c cut) error {
	switch {
	case s.Err() != nil:
	case s.Offset() == 0 || !s.Done():
		s.Fail("no JSON object")
	case c.to == 0:
		s.Fail("no metadata")
	}
	return s.Err()
}

// trim removes white space around a value; kube-apiserver ends each with a newline.
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
