package explain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Visible is the text with control characters as escapes. Names, messages and user agents may have any, and a terminal
// would obey them.
func Visible(text string) string { return escape(text, false) }

// sequences are those of Printer.Paint.
var sequences = []string{reset, Red.sequence(), Yellow.sequence(), Faint.sequence(), Bold.sequence()}

// escape is Visible; with colored set, the sequences of Printer.Paint stay.
func escape(text string, colored bool) string {
	var b strings.Builder
	for i, r := range text {
		ours := func(s string) bool { return strings.HasPrefix(text[i:], s) }
		if strconv.IsPrint(r) || colored && slices.ContainsFunc(sequences, ours) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// plainWord has no characters with a meaning to a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/@%+=,-]+$`)

// shell is a word for a POSIX shell. One with control characters needs bash or zsh, so that it can be shown.
func shell(word string) string {
	switch {
	case plainWord.MatchString(word):
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

// jsonString is the text in JSON.
func jsonString(text string) string {
	data, _ := json.Marshal(text) // a string has a JSON
	return string(data)
}
