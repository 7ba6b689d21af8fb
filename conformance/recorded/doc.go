// Package recorded has the answers that a real Kubernetes v1.36.3 gave; README.md says how they were recorded.
//
// It guarantees:
//
//  1. Files returns what is in the folders scenarios and owners, byte for byte up to white space.
//  2. The archive in the binary is those files; a test compares them.
//
// The archive is made by go generate ./conformance/recorded.
package recorded

//go:generate go test -run ^TestArchive$ . -update
