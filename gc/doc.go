// Package gc is the garbage collector: it follows the store's timeline, lets gc/graph decide, and
// carries the decisions out as requests like anybody else's.
//
// It guarantees:
//
//  1. One goroutine (the collector) owns the graph and the queue; there are no locks. Workers
//     (the executor) only carry out one action each and report back to it.
//  2. It never deletes an object that had a solid owner at the moment of the deletion: a delete
//     is conditional on the object's revision and on the keys of the owners that were judged (up to
//     120 of them, existing ones first).
//  3. An orphaning or foreground owner lets go only when the graph has reached the revision of
//     its deletion (J-08, J-09).
//  4. One object that can't be deleted delays no other: every object has its own back-off, and
//     every request a deadline.
//  5. Everything is bounded: requests under way by Config.Workers, retries by the number of objects,
//     events waiting to be sent and events remembered by constants.
//  6. What was left undone by a crash, or by a collector that fell behind, is found when the graph
//     is loaded: at the start, and whenever history was lost.
//  7. Run returns when its context is done, after all workers have returned.
//
// # Events as owners
//
// Events are never collected, nor waited for (D-08). They count as owners all the same: upstream
// refuses core events as owners but not those of events.k8s.io, which share their storage, and
// looks such an owner up now and then until it is gone (J-36). Here the timeline tells when
// an event vanishes, its time to live included, and its dependents are collected then.
package gc
