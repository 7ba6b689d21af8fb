// Package tests drives the server with real clients. It is a module of its own, so that the dependencies of those
// clients are no dependencies of the server.
//
// It guarantees:
//
//  1. The server under test is the binary built from the module around this one.
//  2. Nothing is needed but Go: kubectl is built here, from the module k8s.io/kubectl.
package tests
