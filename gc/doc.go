// Package gc is the garbage collector: it follows the store's timeline, lets gc/graph decide, and
// carries the decisions out as requests like anybody else's.
//
// It guarantees:
//
//  1. One goroutine (the collector) owns the graph and the queue; there are no locks. Workers
//     (the executor) only carry out one action each and report back to it.
//  2. It never deletes an object that had a solid owner at the moment of the deletion: a delete
//     is conditional on the object's revision and on the keys of the owners that were judged.
//  3. An orphaning or foreground owner lets go only when the graph has reached the revision of
//     its deletion (J-08, J-09).
//  4. One object that can't be deleted delays no other: every object has its own back-off.
//  5. Run returns when its context is done, after all workers have returned.
package gc
