// Package gc is the garbage collector: it follows the store's timeline, lets gc/graph decide, and
// carries the decisions out as requests like anybody else's.
//
// It guarantees:
//
//  1. One goroutine (the collector) owns the graph and the queue; there are no locks. Workers
//     (the executor) only carry out one action each and report back to it.
//  2. It never deletes an object that had a solid owner at the moment of the deletion: a delete
//     is conditional on the object's revision and on the keys of the owners that were judged (up to
//     120 of them, existing ones first). Of another object that has taken an owner's name only the identity
//     is compared: it may be written as often as anybody likes. An object that is terminating already may have
//     got a solid owner since, or was deleted by a client although it had one: when the collector takes its own finalizer
//     off, that is conditional on the object's revision alone, and the object vanishes (C-90).
//  3. An orphaning or foreground owner lets go only when the graph has reached the revision of
//     its deletion (J-08, J-09). Dependents that come between that and the end of an orphaning owner
//     are released, too, unless the process ends in between.
//  4. One object that can't be deleted delays no other: every object has its own back-off, and
//     every request a deadline. What only met somebody else's write is tried again when the timeline shows
//     that write, without a back-off: an owner that is written often delays nobody, and as many writes as there
//     are requests bound the repetition.
//  5. Everything is bounded: requests under way by Config.Workers, retries by the number of objects,
//     events waiting to be sent by a constant. Of events that were sent nothing is remembered.
//  6. What was left undone by a crash, or by a collector that fell behind, is found when the graph
//     is loaded: at the start, and whenever history was lost.
//  7. Run returns when its context is done, after all workers have returned.
//
// # Kinds that come and go
//
// What owner references mean is the table of Kinds, and the only thing to be told is that it has
// changed: its channel is closed, the collector reads the whole table and steps the graph with it
// (graph.Kinds). With package loopback that is done by resources.Types: whoever adds entries to the
// types or takes them out (Add, Remove, Replace), for a CustomResourceDefinition say, has done all
// there is to do. An entry needs its Collection, and the verbs delete and update for its objects to be
// collected. Entries that replace others are to be put in by one Replace, so that no table is seen between.
//
//   - A reference of a kind that isn't served keeps its object, costs nothing meanwhile, and is decided
//     the moment that the kind is served (D-73, D-S35). Nothing is polled.
//   - A kind may leave the table before or after its last object is gone. Owners that were seen to
//     vanish are gone for good, whether their kind is still served or not (J-45, D-S32).
//   - Objects of a collection that isn't served stay in the graph. Nothing can be asked for them, and
//     an owner that orphans its dependents, or waits for those that block it, waits for them: at a
//     start their kind may only be about to be served, and an orphan would be deleted then.
//   - A kind that comes back with another collection or scope has all that name it judged again.
//   - No event is decided with a table that is older than the event: what follows the store changes the table
//     before it shows the events, and the collector reads the table after the events (feed.go).
//
// # Events as owners
//
// Events are never collected, nor waited for (D-08). They count as owners all the same: upstream
// refuses core events as owners but not those of events.k8s.io, which share their storage, and
// looks such an owner up now and then until it is gone (J-36). Here the timeline tells when
// an event vanishes, its time to live included, and its dependents are collected then.
package gc
