package storage

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

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

// text is the inside of a string as it is written. plain says that it stands for itself: no
// escapes, and ASCII only.
type text struct {
	raw   []byte
	plain bool
}

// is reports whether t stands for s.
func (t text) is(s string) bool {
	if t.plain {
		return string(t.raw) == s
	}
	return string(t.append(nil)) == s
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

// special has the high bit of the first byte set that doesn't stand for itself in a string: a quote,
// a backslash, a control character or a byte beyond ASCII. Bits above that one mean nothing. (The
// words are the bytes' borrows; the trick is that of strlen in C libraries.)
func special(w uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^ones*'"', w^ones*'\\'
	return (w | (w - ones*0x20) | (quote-ones)&^quote | (slash-ones)&^slash) & high
}

// str passes the string that begins here.
func (s *scan) str() text {
	from := s.i + 1
	t := text{plain: true}
	for i := from; i < len(s.b); i++ {
		for i+8 <= len(s.b) {
			if m := special(binary.LittleEndian.Uint64(s.b[i:])); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i == len(s.b) {
			break
		}
		switch c := s.b[i]; {
		case c == '"':
			t.raw = s.b[from:i]
			s.i = i + 1
			return t
		case c < 0x20:
			s.i = i
			s.fail("control character in string")
			return text{}
		case c == '\\':
			n := escapeLen(s.b[i:])
			if n == 0 {
				s.i = i
				s.fail("bad escape in string")
				return text{}
			}
			i += n - 1
			t.plain = false
		case c >= utf8.RuneSelf:
			t.plain = false
		}
	}
	s.i = len(s.b)
	s.fail("string without end")
	return text{}
}

// escapeLen is the length of the escape that b begins with; 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// append appends what t stands for. As in encoding/json, what is no Unicode becomes U+FFFD.
func (t text) append(to []byte) []byte {
	if t.plain {
		return append(to, t.raw...)
	}
	for b := t.raw; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if b[0] == '\\' {
			r, n = unescape(b)
		}
		to = utf8.AppendRune(to, r)
		b = b[n:]
	}
	return to
}

// unescape returns what the escape that b begins with stands for, and its length; escapeLen has
// found it valid.
func unescape(b []byte) (r rune, n int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(b[1]), 2
	}
	r, _ = hex4(b[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if low, ok := hex4(b[8:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return utf8.RuneError, 6
}
