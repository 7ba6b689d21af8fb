package apiservertest

import "testing"

// Sequential declares that a test sends one request after the other, and skips it in short mode. make check runs the
// race detector in short mode: such a test would take many times as long there, and has no races. make race runs all
// tests.
func Sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it sends one request after the other")
	}
}
