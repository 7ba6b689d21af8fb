// Package faults holds the tests of what must survive: servers are killed inside and between
// cascades, and restarted on their data, while etcd drops its history and a watcher doesn't read.
// It has no code of its own.
//
// It guarantees:
//
//  1. Trees and moments are chosen by a seed, which is printed: finalizers, second owners, cycles, several kinds, custom ones too; the three
//     policies; before the answer to the DELETE, or after a number of the cascade's events.
//  2. After every restart the server comes to the state that the model predicts from the requests that
//     were answered, whatever the collector did first; one that wasn't is sent again if it wasn't carried out.
package faults
