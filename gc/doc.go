// Package gc is the garbage collector: it follows the store's timeline, lets gc/graph decide, and sends the resulting
// requests as any client does.
//
// It guarantees:
//
//  1. One goroutine (the collector) owns the graph and the queue; there are no locks. Each worker (the executor)
//     carries out one action at a time, and reports the result to the collector.
//  2. It never deletes an object that had a solid owner at the moment of the deletion. As in upstream, an owner is
//     solid if it exists and does not wait for the deletion of its dependents. A delete is conditional on the object's
//     revision and on the keys of its owners (up to 120 of them, existing ones first). If another object has an owner's
//     name, only that object's identity is compared: writes to it cause no conflict. Removing the collector's own
//     finalizer is conditional only on the object's revision. So a terminating object is removed even if it has a solid
//     owner at that time, or had one when a client deleted it (C-90). A request for an object of another server is
//     conditional only on the uid and the revision of the object. A request for an object of this server is also
//     conditional on those of its owners that this server stores. An owner on another server can't return after the
//     decision, because a uid is never used again. But as in upstream the owner may stop waiting after the decision,
//     because a client removes its finalizer.
//  3. The collector's finalizer is removed from an owner that orphans its dependents, or that waits for them, only when
//     the graph has reached the revision of the owner's deletion (J-08, J-09). Dependents that are created between that
//     revision and the removal of an orphaning owner are orphaned, too, unless the process ends in between.
//  4. An object that can't be deleted delays no other: every object has its own back-off, and every request a timeout.
//     A request that was in conflict with another write is repeated when the timeline shows that write, without a
//     back-off. So frequent writes to an owner do not delay its dependents, and there are at most as many repetitions
//     as writes.
//  5. Everything is bounded: requests in flight by Config.Workers, retries by the number of objects, Events waiting to
//     be sent by constants. Events are forgotten after they are sent.
//  6. If a crash interrupts the collector, or if it falls behind the history, it finds the work that is left when it
//     loads the graph: at the start, and whenever history has expired.
//  7. Run returns when its context is done, after all workers have returned. If the context has a monitor
//     (controllers/reconcile), the collector joins it.
//
// # Kinds that come and go
//
// The table of Kinds defines the meaning of owner references. When its channel is closed, the collector reads the whole
// table and steps the graph with it (graph.Kinds). In a server, the table is made from resources.Types. A change of the
// types (Add, Remove, Replace), for example for a CustomResourceDefinition, is enough. Objects are collected only if
// their entry has a Collection and the verbs delete and update. Entries that replace others must be set by one Replace,
// so that no intermediate table is visible.
//
//   - An object with a reference to a kind that isn't served stays. It is decided as soon as the kind is served (D-73,
//     D-S35). Nothing is polled, except owners that other servers may have (Config.Elsewhere). The kinds of other
//     servers are in the table, too (Config.Follow).
//   - A kind may leave the table before or after its last object is gone. Owners whose deletion was seen stay deleted,
//     whether or not their kind is still served, or was in any table that the collector has read (J-45, D-S32).
//   - Objects of a collection that isn't served stay in the graph, but can't be requested. Owners that orphan their
//     dependents, or wait for blocking ones, wait for these objects, too. Otherwise, if a kind is served late after a
//     start, its objects would be deleted instead of orphaned.
//   - If a kind returns with another collection or scope, all objects with references to it are decided again.
//   - No event is decided with a table that is older than the event: the table of types is updated before the events
//     that depend on it are delivered, and the collector reads the table after the events (feed.go).
//
// # Events as owners
//
// Events are never collected, and no owner waits for them (D-08), but they count as owners. Upstream rejects core
// events as owners. It accepts events of events.k8s.io, which have the same storage, and looks such an owner up
// periodically until it is gone (J-36). Here the timeline shows when an event is deleted or expires, and its dependents
// are then collected.
package gc
