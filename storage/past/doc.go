// Package past reads collections at revisions that are older than the cache's history from etcd, whose history reaches
// back to the last compaction.
//
// It guarantees:
//
//  1. A View shows its prefix at exactly one revision. When etcd has compacted that revision, reading from the View
//     fails with storage.ErrCompacted, even if everything it needs is in memory.
//  2. One read requests as many records as the caller wants, but at most 5,000, and at most about 1 MiB once the
//     average size of the revision's records is known.
//  3. All pages and clients of one prefix and revision share the chunks that were read. A chunk that is being read is
//     awaited, not read again. Its objects are decoded once; an object that is in memory at the same mod revision, in
//     the newest state or in a chunk of the next earlier or later revision, isn't decoded at all.
//  4. An object that a later state in memory shows, and that was not written after the revision, isn't read, but
//     counted. Reads that begin at the same key of several revisions take turns, to profit from each other.
//  5. The chunks in memory are limited in bytes (Options.Bytes). The least recently used are dropped first, and those
//     that were not used for a minute in any case. Chunks that a request is still reading aren't counted.
//  6. At most four reads run at a time; others wait for their turn, or until their context is done.
//
// etcd counts all keys of a range, whatever the limit is, and writes wait meanwhile: 35 ms for 100,000 keys, where
// reading 500 of them takes 2 ms. That is why a read has an end that is estimated from the newest state
// (Options.Newest), and why the remaining objects are counted once: for a chunk that follows another the count is known
// from that one.
package past
