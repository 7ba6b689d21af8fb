// Package loopback has the client of controllers inside the process, on top of registry.Loopback and the cache:
// requests, an index for reads, and feeds of changes.
//
// It guarantees:
//
//  1. Every write is a request: it passes admission, validation and the decisions of package finalizers, is counted,
//     and has the controller's own identity.
//  2. Errors are API errors (k8s.io/apimachinery/pkg/api/errors).
//  3. Reads see every event that the controller has received before, and every write that was acknowledged before them.
//  4. A feed sends the state first and then the events, from one goroutine. If it falls behind, it sends the state
//     again. Writes to other collections don't wake a feed of some collections.
//  5. Clients share one Index of dependents. Readers bring the Index up to date. It holds one consistent state of the
//     resources that were read.
package loopback
