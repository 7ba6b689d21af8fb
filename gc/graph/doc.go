// Package graph decides what the garbage collector does. It is told what happened, one event of
// the store's timeline at a time, and answers with the requests that follow from it. It is pure:
// no I/O, no clock, no goroutine, no lock; the same events give the same actions.
//
// It guarantees:
//
//  1. At every revision the graph is the store: the timeline carries all types in one order, so
//     "there is no such owner" is a fact and needs no request. There are no virtual owners to
//     poll (D-14, D-45) and no memory of absent ones (D-26).
//  2. An object has at most one request under way, and no more than Limit requests are under way
//     together. Requests are decided when they are handed out, never earlier, so what waits in
//     line is judged by the newest revision.
//  3. A Delete names the revision of the object and the keys and revisions of all the owners it was
//     judged by; of a key that another uid holds, that nothing else has come there. Whoever carries it out with these guards never deletes an object that had a
//     solid owner at that moment.
//  4. An owner lets go of its finalizer only when the graph has reached the revision of its
//     deletion: the graph learns of the deletion from that very event, and everything older, of
//     whatever type, came before it (J-08, J-09).
//  5. Nothing is forgotten: every object for which there is something to do is in line, under
//     way, answered and not yet shown by the timeline, or waiting for a retry. Check verifies it.
//  6. The cost of an event grows with the references of its object and, when an owner goes or
//     begins to go, with its dependents; never with the number of objects.
//
// Dependents are visited in the order in which they came to be known, which is the timeline's;
// what is printed is sorted.
//
// Two objects may have one uid, if they were written to etcd by other ways than an API server. A reference is looked up
// by its name and kind, so it is solid as long as the object that it means exists. Waiting and orphaning go by the uid, as
// upstream's do (GC/graph_builder.go: uidToNode): an owner that is deleted in the foreground waits for the dependents of
// the other object, too, and one that orphans its dependents takes the references of those.
package graph
