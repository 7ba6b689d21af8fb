// Package faults has the tests with crashes: servers are killed inside and between cascades, and restarted on their
// data, while etcd compacts its history and a watcher doesn't read.
//
// It guarantees:
//
//  1. Trees and moments are drawn from a seed, which is printed: finalizers, second owners, cycles, several kinds
//     including custom ones; the three policies; before the response to the DELETE, or after a number of the cascade's
//     events.
//  2. After every restart the server reaches the state that the model predicts from the requests that got a response,
//     in any order of the collector's work. A request without a response is sent again if it had no effect.
package faults
