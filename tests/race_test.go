//go:build race

package tests

// buildFlags build the server as the tests are built.
var buildFlags = []string{"-race"}
