package main

import "testing"

// TestColorsFollowTheEnvironment: any NO_COLOR but an empty one counts; a dumb terminal has no colours.
func TestColorsFollowTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		noColor, term string
		want          bool
	}{{"", "xterm", true}, {"", "", true}, {"1", "xterm", false}, {"0", "xterm", false}, {"", "dumb", false}} {
		env := map[string]string{"NO_COLOR": c.noColor, "TERM": c.term}
		if got := colored(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("NO_COLOR=%q TERM=%q: %t", c.noColor, c.term, got)
		}
	}
}
