// Package faults holds the tests of what must survive: servers are killed inside and between
// cascades, and restarted on their data, while etcd drops its history and a watcher doesn't read.
// It has no code of its own.
//
// It guarantees:
//
//  1. Moments are chosen by seed and counted in events; nothing sleeps.
//  2. After every restart the server comes to the state that the model predicts from the requests that
//     were answered.
package faults
