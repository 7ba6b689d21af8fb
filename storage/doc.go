// Package storage keeps objects in etcd: one key for each object, one revision for each write.
//
// It guarantees:
//
//  1. One object, one revision. A transaction writes or deletes exactly one key, and keys with a TTL expire one by one.
//     So no two events share a revision, and a watch can resume at any of them. (Another program may change several
//     keys of a shared etcd in one transaction; their events come in one batch.)
//  2. A commit names the mod revision that it replaces. It may also name guards: further keys with the mod revisions
//     they must have, keys at which nothing may have been created since a revision, and prefixes below which nothing
//     may be newer. It is carried out as a whole or not at all.
//  3. A commit that conflicts returns the present record, so that the caller can decide again without another read. A
//     commit for which there is no space fails with ErrNoSpace, whether or not its conditions hold.
//  4. Reads without a revision are linearizable: they see every write that was acknowledged before they began. Reads at
//     a revision, which may be that of the last event, see exactly that revision, or fail with ErrCompacted.
//  5. Follow delivers one timeline: first the whole state at one revision, then every later event of every key in the
//     order of revisions, each exactly once. If etcd has compacted history that Follow needs, Follow starts again with
//     a whole state (Batch.Reset).
//  6. Keys and values are kube-apiserver's: /registry/<collection>/[namespace/]name, and its JSON storage format
//     (without resourceVersion). Its formats protobuf and CBOR are read as well.
//  7. Follow soon reaches every revision that Revision has returned, by a batch without events if nothing below the
//     root was written.
//  8. A commit that fails with ErrUnavailable may have been carried out, or may be carried out later. That includes a
//     commit for which an external cluster has no space. A commit that fails with any other error was not carried out,
//     and never will be.
//  9. A process that is killed at any moment leaves a data directory that can be opened again, with every acknowledged
//     write. Data is only removed if no write in it can have been acknowledged.
//  10. An embedded database that has exceeded its quota accepts puts again after enough was deleted, without a restart.
//     To free space all history is compacted: reads at older revisions fail with ErrCompacted, and a follower that is
//     behind starts again with a whole state.
//  11. An embedded etcd that can't continue, such as on a full disk, acknowledges nothing more, and Config.Fatal is
//     called.
//  12. A lease is revoked only if this store granted it, for one key. Keys that another program has put under one
//     lease, as kube-apiserver does with Events, remain when one of them is replaced or deleted.
//  13. No request is sent to a member of an external cluster before its version, its cluster id and its revision were
//     checked. The check is made for each connection, as a member can't be upgraded, downgraded, replaced or restored
//     without breaking its connections. Versions before 3.4.31, and 3.5 before 3.5.13, are not used: their reports of
//     a watch's progress overtake events, or never come. Open fails if a member that responds is too old. A member
//     that doesn't respond is checked when it does, so a cluster of three can be opened with one member down.
//  14. If an external cluster is set back to an earlier revision, or replaced by another, nothing is read or written
//     from then on: all requests fail, followers end, and Config.Fatal is called (ErrSetBack). The store detects this
//     when a linearizable response has another cluster id or a smaller revision, at the latest after it has connected
//     again.
//  15. Open fails within seconds (ErrDamaged) if files of an embedded etcd are missing, truncated or overwritten,
//     unless etcd repairs them: a record that a crash has torn, or a lost snapshot.
//  16. A store that is opened read-only writes nothing, except for etcd's own writes: commits and compactions fail with
//     ErrReadOnly. A store that begins with a restored database has the database's revisions and history.
//  17. Save writes a snapshot with every write that was acknowledged before it was called.
//  18. While Exclude's function runs, an embedded etcd carries out no other request, not even one that has failed
//     before. A lease may still expire.
//
// By guarantee 14 the process ends, instead of starting again with the restored state: revisions that clients hold,
// pending decisions and caches belong to a history that no longer exists. The store does not notice a restore if other
// programs then write up to a revision that the store has seen, before it connects again. Kubernetes requires that all
// API servers are stopped while etcd is restored. Clients that return with a resourceVersion of the lost history get
// the same response as from Kubernetes (H-11, H-29).
//
// An endpoint must lead to one member. Behind a load balancer, requests may go to another member than the checked one.
//
// The package does not know Kubernetes' types; the caller decides what a value means.
package storage
