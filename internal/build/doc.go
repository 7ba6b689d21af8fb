// Package build reads the build information that the go command records in a binary.
//
// It guarantees:
//
//  1. A fact that the binary does not have is empty: binaries of go run and of source archives have no commit.
package build
