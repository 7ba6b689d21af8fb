// Package cache holds the newest state of the store in memory, a stretch of its history, and lets
// any number of readers list, page and watch without asking etcd.
//
// It guarantees:
//
//  1. Apply is called by one goroutine with the batches of storage.Store.Follow. Everything else
//     may be called from any goroutine (a Watcher by one at a time). Reading what is there takes
//     no lock: readers never wait for each other, and Apply never waits for a reader to be done. A
//     watcher owns nothing but a place in the shared history; there is no goroutine, channel or
//     queue of its own, and nothing to close.
//  2. A batch becomes visible at once and whole, in all collections. A snapshot is the exact state at
//     one revision of the timeline, and immutable.
//  3. A watcher sees every event of its collection after the revision that it started at, once,
//     in the order of revisions. If it falls so far behind that history it has not read is
//     dropped, Next returns ErrExpired; it never skips. Events of other collections don't wake it.
//  4. Revision is that of the whole timeline, so an idle collection is as fresh as a busy one.
//  5. History is bounded in events and in bytes, a collection and as a whole. It is dropped by
//     whole segments, 1/64 of a collection's bound, and never the newest one: who waits for an
//     event gets it.
//  6. A value that can't be decoded is an Object with Err set; it hides no other.
//  7. A whole state that replaces a known one drops all history: every watcher and every older
//     snapshot is ErrExpired. What was applied before and comes again changes nothing. A whole state
//     that can't have followed the known one is storage.ErrSetBack, and is not applied.
//
// What readers see is one immutable state behind one atomic pointer: a persistent B+ tree and a log of
// segments for each collection, and a log for all. Apply makes the next state, sharing all that
// did not change, and closes the channels of those logs that have grown. An older snapshot is the
// newest tree with the log's events undone.
//
// To read the source: state.go says what a reader sees, apply.go how it comes about, log.go and
// tree.go (edit.go) what it is made of; snapshot.go and watcher.go are the readers.
package cache
