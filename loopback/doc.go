// Package loopback gives the controllers inside the process what they ask for in their own small
// interfaces, by way of registry.Loopback and the cache. It is the one place that knows both
// sides.
//
// It guarantees:
//
//  1. Every write is a request: it passes admission, validation and the decisions of package
//     finalizers, is counted, and is made as the controller's own identity.
//  2. Errors are API errors (k8s.io/apimachinery/pkg/api/errors).
//  3. Reads see every event that the controller was told of before, and every write that was
//     acknowledged before them.
//  4. What is followed is told from one goroutine, the state first; whoever falls behind is told the state
//     anew. A feed of some collections isn't woken by writes to others.
//  5. Workload controllers share one Index of dependents. It is brought up to date by whoever reads, and
//     holds one state of all that it has.
package loopback
