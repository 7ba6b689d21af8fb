package kubecascadetest

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// mostLines is the number of log lines that a failed start prints.
const mostLines = 50

// log writes lines to the log of a test, and keeps the last ones.
type log struct {
	mu    sync.Mutex // guards the fields below
	t     testing.TB // nil after the end of the test, when nothing may be logged
	lines []string
}

func newLog(t testing.TB) *log { return &log{t: t} }

// Write implements io.Writer; slog calls it once for each line.
func (l *log) Write(p []byte) (int, error) {
	line := string(bytes.TrimRight(p, "\n"))
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == mostLines {
		l.lines = append(l.lines[:0], l.lines[1:]...)
	}
	l.lines = append(l.lines, line)
	if l.t != nil {
		l.t.Log(line)
	}
	return len(p), nil
}

// attach makes Write write to the log of a test.
func (l *log) attach(t testing.TB) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t = t
}

// detach ends the writing to the test's log.
func (l *log) detach() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t = nil
}

func (l *log) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
