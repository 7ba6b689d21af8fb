// Package flowcontrol is API Priority and Fairness (KEP-1040). It assigns the server's seats to requests by FlowSchemas
// and PriorityLevelConfigurations, so that no client can block others.
//
// It guarantees:
//
//  1. A request belongs to the first FlowSchema that matches it, by matchingPrecedence and then by name, and to that
//     schema's priority level. A schema whose level does not exist matches nothing. The mandatory objects (exempt,
//     catch-all) apply as in Kubernetes, even if they are not stored, or are stored with another specification.
//  2. A priority level has its share of all seats, by its nominalConcurrencyShares. It does not lend or borrow seats
//     (lendablePercent, borrowingLimitPercent).
//  3. In a level, the flows of a schema (its users, or namespaces) wait in queues that are served in turn, so that one
//     user's requests don't delay another's by more than its own share.
//  4. A request waits for its seats for a limited time, and until its context ends. Then it is rejected. It is rejected
//     immediately if its queue is full, or if the level has no queues and no free seats.
//  5. Requests of the level exempt never wait, and take no seats of other levels. If there are more of them than seats,
//     they are rejected, except for watches and non-resource requests. (Kubernetes serves any number of them.)
//  6. A request holds its seats until its response is written. A watch holds them until it has sent its initial events.
//     One user holds at most half of the seats of a level. (In Kubernetes there is no such limit.)
//  7. One user holds at most half of each Budget of memory. Acquire waits for at most Patience.
//  8. The applied objects are those of the cache at the time of the request, or newer ones.
//
// The queues are those of k8s.io/apiserver (pkg/util/flowcontrol/fairqueuing). In Kubernetes, a write keeps its seats
// after its end while watchers are notified. Here it does not, because other goroutines notify watchers.
//
// match.go and config.go are pure. A Controller may be used by any goroutine, and starts none itself.
package flowcontrol
