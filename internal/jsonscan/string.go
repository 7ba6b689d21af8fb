package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// String is the encoded content of a string. Plain reports whether it needs no decoding: no escapes, and ASCII only.
type String struct {
	Raw   []byte
	Plain bool
}

// Is reports whether t decodes to s.
func (t String) Is(s string) bool {
	if t.Plain {
		return string(t.Raw) == s
	}
	return string(t.Append(nil)) == s
}

// special sets the high bit of the first byte that needs attention in a string: a quote, a backslash, a control
// character or a byte beyond ASCII. Higher bits are undefined. (It uses the borrows between bytes, as strlen does in C
// libraries.)
func special(w uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^ones*'"', w^ones*'\\'
	return (w | (w - ones*0x20) | (quote-ones)&^quote | (slash-ones)&^slash) & high
}

// ReadString reads the string that begins here.
func (s *Scanner) ReadString() String {
	from := s.pos + 1
	t := String{Plain: true}
	for i := from; i < len(s.data); i++ {
		for i+8 <= len(s.data) {
			if m := special(binary.LittleEndian.Uint64(s.data[i:])); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i == len(s.data) {
			break
		}
		switch c := s.data[i]; {
		case c == '"':
			t.Raw = s.data[from:i]
			s.pos = i + 1
			return t
		case c < 0x20:
			s.pos = i
			s.Fail("control character in string")
			return String{}
		case c == '\\':
			n := escapeLen(s.data[i:])
			if n == 0 {
				s.pos = i
				s.Fail("bad escape in string")
				return String{}
			}
			i += n - 1
			t.Plain = false
		case c >= utf8.RuneSelf:
			t.Plain = false
		}
	}
	s.pos = len(s.data)
	s.Fail("string without end")
	return String{}
}

// escapeLen returns the length of the escape at the beginning of b; 0 if there is none.
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

// Append appends the decoded content. As in encoding/json, invalid Unicode becomes U+FFFD.
func (t String) Append(to []byte) []byte {
	if t.Plain {
		return append(to, t.Raw...)
	}
	for b := t.Raw; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if b[0] == '\\' {
			r, n = unescape(b)
		}
		to = utf8.AppendRune(to, r)
		b = b[n:]
	}
	return to
}

// unescape decodes the escape at the beginning of b, which escapeLen has validated, and returns its length.
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

// Value returns the decoded content, in memory of its own.
func (t String) Value() string {
	if t.Plain {
		return string(t.Raw)
	}
	return string(t.Append(nil))
}
