package jsonscan

import (
	"bytes"
	"iter"
)

// Marks goes over the punctuation of data: each brace, bracket, comma and colon that is outside of strings, with its
// offset, from front to back. It checks nothing, so of what isn't JSON it gives whatever looks so, and it ends in a
// string without an end.
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

// behind is the offset behind the string that begins at the quote at from; the length of data if it has no end.
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
