package jsonscan

import (
	"bytes"
	"iter"
)

// Marks yields the punctuation of data: each brace, bracket, comma and colon outside of strings, with its offset, in
// order. It checks nothing: for data that isn't JSON it yields all such characters, and it ends at an unterminated
// string.
func Marks(data []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for i := 0; i < len(data); i++ {
			switch c := data[i]; c {
			case '"':
				i = behind(data, i) - 1
			case '{', '[', '}', ']', ',', ':':
				if !yield(i, c) {
					return
				}
			}
		}
	}
}

// behind returns the offset after the string that begins with the quote at from; the length of data if the string is
// unterminated.
func behind(data []byte, from int) int {
	from++
	for i := from; ; {
		next := bytes.IndexByte(data[i:], '"')
		if next < 0 {
			return len(data)
		}
		i += next + 1
		end := i - 1
		escapes := 0
		for end-escapes > from && data[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}
