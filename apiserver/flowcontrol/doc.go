// Package flowcontrol is API Priority and Fairness (KEP-1040): it gives the server's seats to requests by FlowSchemas
// and PriorityLevelConfigurations, so that no client keeps others out.
//
// It guarantees:
//
//  1. A request belongs to the first FlowSchema that matches it, by matchingPrecedence and then by name, and to that
//     schema's priority level. A schema whose level isn't there matches nothing. The mandatory objects (exempt,
//     catch-all) are in force as Kubernetes has them, whether or not they are stored, and whatever is stored under
//     their names.
//  2. A priority level has its part of all seats, by its nominalConcurrencyShares. What it may lend is lent to levels
//     that have more requests than seats, up to what they may borrow, and given back within a second when its own wait.
//  3. In a level, the flows of a schema (its users, or namespaces) wait in queues that are served in turn, so that one
//     user's requests don't delay another's by more than its own share.
//  4. A request waits for its seat for a bounded time, and as long as its context lasts. It is rejected if its queue is
//     full, or at the end of that time. A level without queues rejects at once.
//  5. Requests of the level exempt never wait, and take no other's seats. More of them than there are seats are
//     rejected, but for watches and other paths than those of resources. (Kubernetes serves any number of them.)
//  6. A request that does nothing but wait for its client to read leaves a seat to others, as long as less than four
//     times all seats are away like that. (Kubernetes lets it keep them.)
//  7. The objects in force are those of a state of the cache that is no older than its state at the moment of the
//     request.
//
// The queues are those of k8s.io/apiserver (pkg/util/flowcontrol/fairqueuing). Not modelled: seats that a write
// occupies after its end for the watchers that it wakes, as they are no work of the request here; and Kubernetes'
// smoothing of the demand for seats, by which it lends for minutes: seats are lent anew every second.
//
// What matches, config and share are pure. A Controller may be used by any number of goroutines; it has none of its
// own.
package flowcontrol
