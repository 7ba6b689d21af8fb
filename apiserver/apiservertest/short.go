package apiservertest

import "testing"

// Sequential declares that a test sends one request after the other. In short mode it is skipped: make check runs the
// race detector in that mode, which makes such a test many times as long and has nothing to find there. make race has
// it run all tests.
func Sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one request after the other")
	}
}
