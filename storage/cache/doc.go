// Package cache holds the newest state of the store in memory, a stretch of its history, and lets
// any number of readers list, page and watch without asking etcd.
//
// It guarantees:
//
//  1. Apply is called by one goroutine with the batches of storage.Store.Follow. Everything else
//     may be called from any goroutine. Readers never wait for each other, and Apply never waits
//     for a reader: a watcher owns nothing but a place in the shared history.
//  2. A snapshot is the exact state at one revision of the timeline, and immutable.
//  3. A watcher sees every event of its collection after the revision that it started at, once,
//     in the order of revisions. If it falls so far behind that history it has not read is
//     dropped, Next returns ErrExpired; it never skips.
//  4. Revision is that of the whole timeline, so an idle collection is as fresh as a busy one.
//  5. History is bounded in events and in bytes, a collection and as a whole.
//  6. A value that can't be decoded is an Object with Err set; it hides no other.
package cache
