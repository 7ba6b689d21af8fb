package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/kubecascade/kubecascade/conformance"
)

// progressWidth is how much of a terminal's line is used.
const progressWidth = 79

// progressLine is a line on a terminal that is written over; on anything else it shows nothing.
type progressLine struct {
	out io.Writer // nil shows nothing

	mu     sync.Mutex // guards out and shown: an interruption clears the line from elsewhere
	shown  bool
	closed bool
}

func newProgressLine(w io.Writer) *progressLine {
	f, ok := w.(*os.File)
	if !ok {
		return &progressLine{}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progressLine{}
	}
	return &progressLine{out: w}
}

// show writes the line anew.
func (l *progressLine) show(p conformance.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil || l.closed {
		return
	}
	text := fmt.Sprintf("%d/%d cases", p.Done, p.Total)
	if p.Failed > 0 {
		text += fmt.Sprintf(", %d failed", p.Failed)
	}
	switch {
	case p.Cleaning:
		text += ", cleaning up"
	case p.Total > 0 && p.Done == 0 && len(p.Running) == 0:
		text += ", looking for a collector"
	default:
		text += ": " + strings.Join(p.Running, " ")
	}
	if len(text) > progressWidth {
		text = text[:progressWidth-3] + "..."
	}
	fmt.Fprint(l.out, "\r\x1b[K"+text)
	l.shown = true
}

// clear takes the line away; it isn't shown again.
func (l *progressLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		fmt.Fprint(l.out, "\r\x1b[K")
	}
	l.shown, l.closed = false, true
}
