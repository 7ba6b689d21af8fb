// Package graph makes the decisions of the garbage collector. It processes the store's timeline, one event at a time,
// and returns the requests that follow from each. It is pure: no I/O, no clock, no goroutine, no lock; the same events
// give the same actions.
//
// It guarantees:
//
//  1. At every revision the graph equals the store. The timeline carries all types in one order, so "there is no such
//     owner" is a fact and needs no request. There are no virtual owners to poll (D-14, D-45) and no cache of absent
//     ones (D-26). Objects of other servers (Aggregated) are not in the timeline. They have the state in which they
//     were read, and at that time the graph already has everything that the store had. If an owner on another server is
//     not in the graph, it counts as present until an Absent event.
//  2. An object has at most one request in flight, and at most Limit requests are in flight together. A request is
//     decided when it is sent, never earlier, so queued objects are decided on the newest revision.
//  3. A Delete names the revision of the object and the keys and revisions of all owners that the decision depends on.
//     If an object with another uid has an owner's key, the guard only requires that no other object is created there.
//     With these guards no object is deleted that had a solid owner at that moment.
//  4. The collector's finalizer is removed from an owner only when the graph has reached the revision of the owner's
//     deletion: the event of that revision shows the deletion, and all older events, of any type, came before it (J-08,
//     J-09).
//  5. No work is lost: every object that needs something to be done is queued, in flight, settled (the response has
//     arrived, but not yet the event), or waiting for a retry. Check verifies this.
//  6. The cost of an event grows with the references of its object and, when an owner's deletion begins or ends, with
//     the number of its dependents; never with the number of all objects.
//
// Dependents are visited in the order in which they became known, which is that of the timeline; output is sorted.
//
// Two objects may have the same uid if they were written to etcd without an API server. A reference is resolved by name
// and kind, so it is solid as long as the object that it names exists. Waiting and orphaning depend only on the uid, as
// in upstream (GC/graph_builder.go: uidToNode): an owner that is deleted in the foreground also waits for the
// dependents of the other object, and one that orphans its dependents also removes their references to the other
// object.
package graph
