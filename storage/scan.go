package storage

import "fmt"

// maxDepth is how deep arrays and objects may be nested; encoding/json's bound.
const maxDepth = 10000

// scan reads JSON from front to back, and refuses exactly what encoding/json.Valid refuses. After
// an error it stands at the end, so that loops stop; only the first error is kept.
type scan struct {
	b     []byte
	i     int
	depth int
	err   error
}

// fail notes the error.
func (s *scan) fail(what string) {
	if s.err == nil {
		s.err = fmt.Errorf("%s at byte %d", what, s.i)
	}
	s.i = len(s.b)
}

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scan) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// open goes into an object or array, if one with that bracket is next.
func (s *scan) open(bracket byte) bool {
	if s.peek() != bracket {
		return false
	}
	if s.depth++; s.depth > maxDepth {
		s.fail("nested too deep")
		return false
	}
	s.i++
	return true
}

// more goes to the next member or element and reports whether there is one; if not, it leaves
// the object or array that the bracket closes.
func (s *scan) more(first bool, bracket byte) bool {
	switch c := s.peek(); {
	case c == bracket:
		s.i++
		s.depth--
		return false
	case first && s.i < len(s.b):
		return true
	case c == ',':
		s.i++
		return true
	}
	s.fail("comma or end expected")
	return false
}

// key is more for objects: it reads the member's name and the colon, and stands before the value. at
// is where the name's quote is.
func (s *scan) key(first bool) (name text, at int, ok bool) {
	if !s.more(first, '}') {
		return text{}, 0, false
	}
	if s.peek() != '"' {
		s.fail("member name expected")
		return text{}, 0, false
	}
	at = s.i
	name = s.str()
	if s.peek() != ':' {
		s.fail("colon expected")
		return text{}, 0, false
	}
	s.i++
	return name, at, true
}

// skip passes one value of any kind.
func (s *scan) skip() {
	switch c := s.peek(); c {
	case '"':
		s.str()
	case '{':
		if !s.open('{') {
			return
		}
		for first := true; ; first = false {
			if _, _, ok := s.key(first); !ok {
				return
			}
			s.skip()
		}
	case '[':
		if !s.open('[') {
			return
		}
		for first := true; s.more(first, ']'); first = false {
			s.skip()
		}
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.number()
	}
}

// word passes a literal.
func (s *scan) word(w string) {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		s.fail("value expected")
		return
	}
	s.i += len(w)
}

// null passes a null, if that is next.
func (s *scan) null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.word("null")
	return s.err == nil
}

// number passes a number and returns it as it is written.
func (s *scan) number() []byte {
	from := s.i
	s.accept('-', '-')
	switch {
	case s.accept('0', '0'):
	case s.accept('1', '9'):
		s.digits()
	default:
		s.fail("value expected")
		return nil
	}
	if s.accept('.', '.') && !s.digits() {
		s.fail("digit expected")
		return nil
	}
	if s.accept('e', 'e') || s.accept('E', 'E') {
		if !s.accept('+', '+') {
			s.accept('-', '-')
		}
		if !s.digits() {
			s.fail("digit expected")
			return nil
		}
	}
	return s.b[from:s.i]
}

// accept passes one byte between lo and hi, if that is next.
func (s *scan) accept(lo, hi byte) bool {
	if s.i < len(s.b) && lo <= s.b[s.i] && s.b[s.i] <= hi {
		s.i++
		return true
	}
	return false
}

// digits passes all digits and reports whether there were any.
func (s *scan) digits() bool {
	from := s.i
	for s.accept('0', '9') {
	}
	return s.i > from
}
