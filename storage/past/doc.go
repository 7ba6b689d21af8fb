// Package past reads collections at revisions that the cache's history doesn't reach back to, from etcd, whose
// history reaches back to the last compaction.
//
// It guarantees:
//
//  1. A View shows its prefix at exactly one revision. When etcd has compacted that revision, reading from the View
//     fails with storage.ErrCompacted, even if everything it needs is in memory.
//  2. One read asks etcd for as many records as the caller wants, but for no more than 5,000, and for no more than
//     about 1 MiB as soon as the average size of the revision's records is known.
//  3. What was read is kept in chunks, which all pages and clients of one prefix and revision share. A chunk that is
//     being read is awaited, not read again. The objects in it are decoded once.
//     One that is in memory at the same mod revision isn't decoded at all.
//  4. The chunks in memory are bounded by bytes (Options.Bytes), the least recently used go first, and one that no one
//     has used for a minute goes in any case. Chunks that a request still shows aren't counted.
//  5. At most four reads are under way at a time; others wait for their turn, or until their context is done.
//
// etcd walks over all keys of a range to count them, whatever the limit is, and no one writes meanwhile: 35 ms for 100,000
// keys, where reading 500 of them takes 2 ms. That is why a read has an end that is guessed from the newest state
// (Options.Ahead), and why what remains is counted once: of a chunk that follows another it is known from that one.
package past
