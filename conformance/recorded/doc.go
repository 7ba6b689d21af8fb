// Package recorded has the responses of a real Kubernetes v1.36.3. README.md describes how they were recorded.
//
// It guarantees:
//
//  1. Files returns the content of the directories scenarios and owners, byte for byte except for white space.
//  2. The archive in the binary contains those files; a test compares them.
//
// The archive is made by go generate ./conformance/recorded.
package recorded

//go:generate go test -run ^TestArchiveEqualsFiles$ . -update
