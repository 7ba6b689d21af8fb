package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kubecascade/kubecascade/gc/trail"
)

// Style has the settings with which text is printed.
type Style struct {
	Width int       // the maximum length of a line, in characters; 0 for none. Longer lines are continued below
	Color bool      // allows the control sequences of terminals
	Now   time.Time // the moment of the answer, from which ages are counted
}

// The colours and weights of terminals: parameters of the control sequence SGR.
const red, yellow, faint, bold = "31", "33", "2", "1"

// painted are the control sequences of paint: the colours, and their end. leading is one at the start of a text.
var painted = regexp.MustCompile("\x1b\\[(31|33|2|1|0)m")
var leading = regexp.MustCompile("^" + painted.String())

// printer makes the text of an answer, line by line. Control characters except those of paint are printed as escapes.
type printer struct {
	Style
	strings.Builder
	shown map[string]*trail.Removal // the removals that a trail has shown, by uid
}

// paint returns the text in a colour, if the style has colours.
func (p *printer) paint(color, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// line prints a line after first. What does not fit in the width is continued on the next lines, after rest.
func (p *printer) line(first, rest, text string) {
	lines := []string{escape(text, p.Color)}
	if p.Width > 0 {
		lines = Wrap(lines[0], max(p.Width-utf8.RuneCountInString(first), 20)) // also in deep trees
	}
	for _, part := range lines {
		p.WriteString(first + part + "\n")
		first = rest
	}
}

// Wrap breaks a text at spaces into lines of at most width characters, except for longer words. The sequences of
// paint have no width.
func Wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(painted.ReplaceAllString(line+" "+word, "")) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// item is a line of a tree, with the items below it.
type item struct {
	Text  string
	Below []item
}

// items prints items below a line whose continuations begin with prefix.
func (p *printer) items(prefix string, items []item) {
	for i, item := range items {
		first, rest := prefix+"├─ ", prefix+"│  "
		if i == len(items)-1 {
			first, rest = prefix+"└─ ", prefix+"   "
		}
		p.line(first, rest, item.Text)
		p.items(rest, item.Below)
	}
}

// age returns a duration as text: in its largest unit, and the next one if that is not 0.
func age(d time.Duration) (text string) {
	left := int64(d.Round(time.Second) / time.Second)
	for i, seconds := range []int64{86400, 3600, 60, 1} {
		n, largest := left/seconds, text == ""
		if left -= n * seconds; n > 0 {
			text += fmt.Sprintf("%d%c", n, "dhms"[i])
		}
		if !largest {
			break
		}
	}
	return cmp.Or(text, "0s")
}

// visible returns the text with control characters as escapes. Names, messages and user agents may have control
// characters, which a terminal would execute.
func visible(text string) string { return escape(text, false) }

// escape is visible; with colored set, the sequences of printer.paint stay.
func escape(text string, colored bool) string {
	var b strings.Builder
	for i, r := range text {
		if strconv.IsPrint(r) || colored && leading.MatchString(text[i:]) {
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

// shell quotes a word for a POSIX shell. A word with control characters is quoted for bash or zsh, as escapes.
func shell(word string) string {
	switch {
	case plainWord.MatchString(word):
		return word
	case visible(word) == word:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(word) {
		if c < ' ' || c > '~' || c == '\'' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}

func jsonString(text string) string {
	data, _ := json.Marshal(text) // no error: it is a string
	return string(data)
}
