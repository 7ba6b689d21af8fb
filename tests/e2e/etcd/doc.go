// Package etcd runs the server on the oldest supported etcd 3.5, and tests that it rejects the version before.
//
// It guarantees:
//
//  1. The servers under test are binaries: kubecascade is built from this repository, and etcd from its modules.
//  2. All servers listen on the loopback interface, on free ports.
//
// There is no test with 3.4.31, the oldest supported version, because etcd 3.4 is not available as a Go module: its
// path is go.etcd.io/etcd, without the /v3 that a module of a version 3 must have. "go list -m go.etcd.io/etcd@v3.4.31"
// reports that this version is not available, also with +incompatible.
package etcd
