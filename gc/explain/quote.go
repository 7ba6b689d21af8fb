package explain

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Visible is the text with control characters as escapes. Names, messages and user agents may have any, and a terminal
// would obey them.
func Visible(text string) string { return visible(text, nil) }

// sequences are those of paint, which stay.
var sequences = []string{
	"\x1b[0m", "\x1b[" + red + "m", "\x1b[" + yellow + "m", "\x1b[" + faint + "m", "\x1b[" + bold + "m",
}

// visible is Visible, but for the given sequences.
func visible(text string, keep []string) string {
	var b strings.Builder
next:
	for i, r := range text {
		for _, s := range keep {
			if strings.HasPrefix(text[i:], s) {
				b.WriteRune(r)
				continue next
			}
		}
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// shell is a word for a POSIX shell. One with control characters needs bash or zsh, so that it can be shown.
func shell(word string) string {
	switch {
	case word != "" && strings.IndexFunc(word, special) < 0:
		return word
	case Visible(word) == word:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, r := range word {
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		}
	}
	return "$'" + b.String() + "'"
}

// special reports whether the character may mean something to a shell.
func special(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("._:/@%+=,-", r)
}

// jsonString is the text in JSON.
func jsonString(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string has a JSON
	}
	return string(data)
}
