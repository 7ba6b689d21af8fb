// Package etcd runs the server over the oldest etcd 3.5 that it works with, and tests that it rejects the one before.
//
// It guarantees:
//
//  1. The servers under test are binaries: kubecascade as built from this repository, and etcd as built from its
//     modules.
//  2. All of it listens on the loopback interface, on ports that were free.
//
// There is no test with 3.4.31, the oldest version that the server works with. etcd 3.4 can't be had as a Go module:
// its path is go.etcd.io/etcd, without the /v3 that a module of a version 3 must have, and "go list -m
// go.etcd.io/etcd@v3.4.31" reports that this version is not available, also with +incompatible.
package etcd
