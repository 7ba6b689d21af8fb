package explain

import (
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
	for _, part := range p.wrap(escape(text, p.Color), utf8.RuneCountInString(first)) {
		p.text.WriteString(first + part + "\n")
		first = rest
	}
}

// leastWidth is the least number of characters before a line is broken, in deep trees on narrow terminals.
const leastWidth = 20

// wrap breaks a text at spaces; used characters of the line are taken.
func (p *Printer) wrap(text string, used int) (lines []string) {
	if p.Width == 0 {
		return []string{text}
	}
	width := max(p.Width-used, leastWidth)
	line := ""
	for _, word := range strings.Split(text, " ") {
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

// Branch returns what Line prints before item i of n in a tree: first before its line, rest before the lines that
// continue it and before the items below it. prefix is the rest of the item above.
func Branch(prefix string, i, n int) (first, rest string) {
	if i == n-1 {
		return prefix + "└─ ", prefix + "   "
	}
	return prefix + "├─ ", prefix + "│  "
}

// Age is a duration in its largest unit, and the next one if that is not 0.
func Age(d time.Duration) string {
	left := int64(d.Round(time.Second) / time.Second)
	text, last := "", false
	for _, u := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := left / u.seconds; n > 0 {
			text += fmt.Sprintf("%d%s", n, u.name)
			left -= n * u.seconds
		}
		if last {
			break
		}
		last = text != ""
	}
	if text == "" {
		return "0s"
	}
	return text
}
