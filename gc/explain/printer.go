package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Style is how text is printed.
type Style struct {
	// Width is the maximum length of a line, in characters; 0 for none. Longer lines are continued below.
	Width int
	// Color allows the control sequences of terminals.
	Color bool
	// Now is the moment of the answer, from which ages are counted.
	Now time.Time
}

// Color is a colour or a weight of terminals: a parameter of the control sequence SGR.
type Color string

// The colours.
const (
	Red    Color = "31"
	Yellow Color = "33"
	Faint  Color = "2"
	Bold   Color = "1"
)

func (c Color) sequence() string { return "\x1b[" + string(c) + "m" }

// reset ends a colour.
const reset = "\x1b[0m"

// Printer makes the text of an answer, line by line. Control characters are printed as escapes, but for the sequences
// of Paint.
type Printer struct {
	Style
	text strings.Builder
}

// String returns the text.
func (p *Printer) String() string { return p.text.String() }

// Paint returns the text in a colour, if the style has colours.
func (p *Printer) Paint(c Color, text string) string {
	if !p.Color || text == "" {
		return text
	}
	return c.sequence() + text + reset
}

// Line prints a line after first. What does not fit in the width is continued on the next lines, after rest.
func (p *Printer) Line(first, rest, text string) {
	lines := []string{escape(text, p.Color)}
	if p.Width > 0 {
		lines = Wrap(lines[0], max(p.Width-utf8.RuneCountInString(first), leastWidth))
	}
	for _, part := range lines {
		p.text.WriteString(first + part + "\n")
		first = rest
	}
}

// leastWidth is the least number of characters before a line is broken, in deep trees on narrow terminals.
const leastWidth = 20

// Wrap breaks a text at spaces into lines of at most width characters, except for longer words. Control sequences have
// no width.
func Wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(plain(line+" "+word)) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// plain is the text without control sequences.
func plain(text string) string {
	for {
		before, after, found := strings.Cut(text, "\x1b")
		_, after, ended := strings.Cut(after, "m")
		if !found || !ended {
			return text
		}
		text = before + after
	}
}

// Item is a line of a tree, with the items below it.
type Item struct {
	Text  string
	Below []Item
}

// Items prints items below a line whose continuations begin with prefix.
func (p *Printer) Items(prefix string, items []Item) {
	for i, item := range items {
		first, rest := prefix+"├─ ", prefix+"│  "
		if i == len(items)-1 {
			first, rest = prefix+"└─ ", prefix+"   "
		}
		p.Line(first, rest, item.Text)
		p.Items(rest, item.Below)
	}
}

// Age is a duration in its largest unit, and the next one if that is not 0.
func Age(d time.Duration) (text string) {
	left := int64(d.Round(time.Second) / time.Second)
	for _, u := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		n, largest := left/u.seconds, text == ""
		if left -= n * u.seconds; n > 0 {
			text += fmt.Sprintf("%d%s", n, u.name)
		}
		if !largest {
			break
		}
	}
	return cmp.Or(text, "0s")
}
