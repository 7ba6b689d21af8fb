package apiservertest

import "testing"

// Sequential declares that a test sends requests one after the other, and skips it in short mode. Such a test has no
// races, but would take many times as long in make check, which runs the race detector in short mode. make race runs
// all tests.
func Sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it sends one request after the other")
	}
}
