// Package faults tests crashes. Servers are killed during and between cascades, and restarted on their data, while etcd
// compacts its history and a watcher doesn't read.
//
// It guarantees:
//
//  1. A seed, which is printed, determines the trees of objects and the times of the crashes. The trees have
//     finalizers, second owners, cycles, and several kinds including custom ones. All three policies are used. A crash
//     happens before the response to the DELETE, or after a number of the cascade's events.
//  2. After every restart the server reaches the state that the model predicts from the requests that got a response,
//     in any order of the collector's work. A request without a response is sent again if it had no effect.
package faults
