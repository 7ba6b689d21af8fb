package jsonscan

import (
	"errors"
	"fmt"
)

// MaxDepth is the maximum nesting of arrays and objects; encoding/json has the same limit.
const MaxDepth = 10000

// ErrDepth is the error of a document that is nested deeper than MaxDepth.
var ErrDepth = errors.New("nested too deep")

// Scanner reads JSON from front to back, and rejects exactly what encoding/json.Valid rejects. After an error it is at
// the end, so that loops stop; only the first error is kept.
type Scanner struct {
	data  []byte
	pos   int
	depth int
	err   error
}

// New returns a Scanner at the beginning of a document. It is a value so that a reader can keep it on its stack.
func New(data []byte) Scanner { return Scanner{data: data} }

// Err returns the first error; nil as long as there is none.
func (s *Scanner) Err() error { return s.err }

// Offset returns the number of bytes that have been read.
func (s *Scanner) Offset() int { return s.pos }

// Seek moves to an offset at which the scanner has been before, at the same depth.
func (s *Scanner) Seek(offset int) { s.pos = offset }

// From returns the data from an offset to the present one.
func (s *Scanner) From(offset int) []byte { return s.data[offset:s.pos] }

// Fail records an error at the present offset, unless there is one, and moves to the end.
func (s *Scanner) Fail(what string) {
	if s.err == nil {
		s.stop(errors.New(what))
	}
}

func (s *Scanner) stop(err error) {
	if s.err == nil {
		s.err = fmt.Errorf("%w at byte %d", err, s.pos)
	}
	s.pos = len(s.data)
}

// Done reports whether only white space is left, and there was no error.
func (s *Scanner) Done() bool {
	return s.Peek() == 0 && s.pos == len(s.data) && s.err == nil
}

// Peek skips white space and returns the next byte, or 0 at the end.
func (s *Scanner) Peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// Open enters an object or array, if one with that bracket is next.
func (s *Scanner) Open(bracket byte) bool {
	if s.Peek() != bracket {
		return false
	}
	if s.depth++; s.depth > MaxDepth {
		s.stop(ErrDepth)
		return false
	}
	s.pos++
	return true
}

// More moves to the next member or element and reports whether there is one; if not, it leaves the object or array that
// the bracket closes. first reports whether none was read yet.
func (s *Scanner) More(first bool, bracket byte) bool {
	switch c := s.Peek(); {
	case c == bracket:
		s.pos++
		s.depth--
		return false
	case first && s.pos < len(s.data):
		return true
	case c == ',':
		s.pos++
		return true
	}
	s.Fail("comma or end expected")
	return false
}

// Key is More for objects: it reads the member's name and the colon, and stops before the value. at is the offset of
// the name's quote.
func (s *Scanner) Key(first bool) (name String, at int, ok bool) {
	if !s.More(first, '}') {
		return String{}, 0, false
	}
	if s.Peek() != '"' {
		s.Fail("member name expected")
		return String{}, 0, false
	}
	at = s.pos
	name = s.ReadString()
	if s.Peek() != ':' {
		s.Fail("colon expected")
		return String{}, 0, false
	}
	s.pos++
	return name, at, true
}

// Skip skips one value of any kind.
func (s *Scanner) Skip() {
	switch c := s.Peek(); c {
	case '"':
		s.ReadString()
	case '{':
		if !s.Open('{') {
			return
		}
		for first := true; ; first = false {
			if _, _, ok := s.Key(first); !ok {
				return
			}
			s.Skip()
		}
	case '[':
		if !s.Open('[') {
			return
		}
		for first := true; s.More(first, ']'); first = false {
			s.Skip()
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

func (s *Scanner) word(w string) {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		s.Fail("value expected")
		return
	}
	s.pos += len(w)
}

func (s *Scanner) number() {
	s.accept('-', '-')
	switch {
	case s.accept('0', '0'):
	case s.accept('1', '9'):
		s.digits()
	default:
		s.Fail("value expected")
		return
	}
	if s.accept('.', '.') && !s.digits() {
		s.Fail("digit expected")
		return
	}
	if s.accept('e', 'e') || s.accept('E', 'E') {
		if !s.accept('+', '+') {
			s.accept('-', '-')
		}
		if !s.digits() {
			s.Fail("digit expected")
			return
		}
	}
}

// accept reads one byte between lo and hi, if that is next.
func (s *Scanner) accept(lo, hi byte) bool {
	if s.pos < len(s.data) && lo <= s.data[s.pos] && s.data[s.pos] <= hi {
		s.pos++
		return true
	}
	return false
}

// digits reads all digits and reports whether there were any.
func (s *Scanner) digits() bool {
	from := s.pos
	for s.accept('0', '9') {
	}
	return s.pos > from
}

// Member returns the offsets of the value of an object's member, the last one with that name; from and to are 0 if
// there is none, or if data isn't JSON.
func Member(object []byte, name string) (from, to int) {
	s := New(object)
	if !s.Open('{') {
		return 0, 0
	}
	for first := true; ; first = false {
		n, _, ok := s.Key(first)
		if s.err != nil {
			return 0, 0
		}
		if !ok {
			return from, to
		}
		s.Peek()
		at := s.pos
		if s.Skip(); n.Is(name) {
			from, to = at, s.pos
		}
	}
}
