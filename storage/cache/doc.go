// Package cache holds the newest state of the store and its recent history in memory, and lets any number of readers
// list, page and watch without requests to etcd.
//
// It guarantees:
//
//  1. One goroutine calls Apply with the batches of storage.Store.Follow. Everything else may be called from any
//     goroutine (a Watcher by one at a time). Apply never waits for readers. Readers take only two locks, each for a
//     short time: that of the encodings, and that of a tree while it is cloned. A watcher is only a position in the
//     shared history; it has no goroutine, channel or queue of its own, and needs no closing.
//  2. A batch becomes visible at once and as a whole, in all collections. A snapshot is the exact state at one revision
//     of the timeline, and immutable.
//  3. A watcher sees every event of its collection after the revision that it started at, once, in the order of
//     revisions. If it falls so far behind that unread history is dropped, Next returns ErrExpired; it never skips
//     events. Events of other collections don't wake it.
//  4. Cache.Revision is the revision of the whole timeline, so an idle collection is as current as a busy one.
//  5. History is limited in events and in bytes, for each collection and in total. It is dropped in whole segments,
//     each 1/64 of a collection's limit. The newest segment is never dropped, so a watcher that waits for an event gets
//     it.
//  6. A value that can't be decoded is an Object with Err set; it hides no other object.
//  7. A whole state that replaces a known one, and a batch that cuts the timeline, drop all history: every watcher, and
//     every request for an older snapshot, gets ErrExpired. A batch that was applied before changes nothing. Apply
//     rejects a whole state that can't have followed the known one, with storage.ErrSetBack.
//  8. The cache keeps the encodings of an object besides its JSON while the object is in the newest state, and the
//     frames of an event while it is in the history. The first caller makes an encoding. One limit of bytes applies to
//     all encodings; the least recently used are dropped first.
//  9. Changes yields the differences between two states.
//  10. The cache takes over objects that this process has written (Share), at most 1,024 whose events have not arrived.
//
// Readers see one immutable state behind one atomic pointer. It has a B-tree and a log of segments for each collection,
// and a log of all collections. A tree is cloned before it is changed. Apply makes the next state, which shares
// everything that did not change, and closes the channels of the logs that have grown. For an older snapshot, the
// events of the log are undone in a clone of the newest tree.
//
// To read the source: state.go has the state that readers see, apply.go how it changes, log.go and tree.go the data
// structures; snapshot.go, watcher.go and changes.go are the readers.
package cache
