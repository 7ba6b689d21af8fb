package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/kubecascade/kubecascade/conformance"
)

const (
	// progressWidth is the maximum width of the line.
	progressWidth = 79
	// progressEvery is the interval of lines on an output that isn't a terminal; shorter runs print none.
	progressEvery = 10 * time.Second
)

// progressLine overwrites one line on a terminal; on other outputs it prints a line at intervals.
type progressLine struct {
	out      io.Writer
	terminal bool
	every    time.Duration
	width    int

	mu     sync.Mutex // guards the fields below: an interruption clears the line from another goroutine
	shown  bool
	closed bool
	// next is the time from which the next line may be printed on an output that is no terminal.
	next time.Time
}

func newProgressLine(w io.Writer) *progressLine {
	l := &progressLine{out: w, every: progressEvery, width: progressWidth, next: time.Now().Add(progressEvery)}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		l.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
		// A line that is continued below could not be overwritten.
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 4 {
			l.width = min(l.width, width-1)
		}
	}
	return l
}

// show prints the progress of the cases.
func (l *progressLine) show(p conformance.Progress) {
	text := fmt.Sprintf("%d/%d cases", p.Done, p.Total)
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	switch {
	case p.Cleaning:
		text += ", cleaning up"
	case len(p.Running) == 0 && len(p.Probing) > 0:
		text += ", checking for a " + strings.Join(p.Probing, " and a ")
	default:
		text += ": " + strings.Join(p.Running, " ")
	}
	l.print(text)
}

// print overwrites the line.
func (l *progressLine) print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(text) > l.width {
		text = text[:l.width-3] + "..."
	}
	switch now := time.Now(); {
	case l.closed:
	case l.terminal:
		fmt.Fprint(l.out, "\r\x1b[K"+text)
		l.shown = true
	case now.After(l.next):
		fmt.Fprintln(l.out, text)
		l.next = now.Add(l.every)
	}
}

// clear removes the line; it isn't printed again.
func (l *progressLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
	l.shown, l.closed = false, true
}
