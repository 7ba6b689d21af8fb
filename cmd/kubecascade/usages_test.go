package main

import (
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// TestHelpLinesAreNarrow: no line of help is wider than the limit, unless it is one word, and nothing of the usages is
// lost.
func TestHelpLinesAreNarrow(t *testing.T) {
	o := &options{}
	for _, g := range o.groups() {
		text := usages(g.flags)
		for line := range strings.Lines(text) {
			if len(strings.TrimRight(line, "\n")) > usageWidth && len(strings.Fields(line)) > 1 {
				t.Errorf("%s: %q is too wide", g.title, line)
			}
		}
		if got, want := strings.Fields(text), strings.Fields(g.flags.FlagUsages()); strings.Join(got, " ") !=
			strings.Join(want, " ") {
			t.Errorf("%s: the usages are\n%s\nnot\n%s", g.title, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}

// TestWideWordsHaveTheirOwnLine: a word that is wider than a line is a line of its own, and the rest is wrapped.
func TestWideWordsHaveTheirOwnLine(t *testing.T) {
	got := strings.Join(explain.Wrap("a bb persistentvolume-controller, cc d ee", 5), "|")
	if want := "a bb|persistentvolume-controller,|cc d|ee"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
