// Package storage keeps objects in etcd: one key an object, one revision a write.
//
// It guarantees:
//
//  1. One object, one revision. A transaction writes or removes exactly one key, and keys with a
//     TTL expire one by one, so no two events share a revision and a watch that resumes can never
//     tear one apart. (Another program may change several keys of a shared etcd in one
//     transaction; their events come in one batch.)
//  2. A commit names the mod revision that it replaces, and may name further keys with the mod
//     revisions they must have, keys at which nothing may have been created since, and prefixes below
//     which nothing may be newer (guards). It is carried out whole or not at all.
//  3. A commit that loses says so with the record that won, so the caller can decide again
//     without another read.
//  4. Reads without a revision are linearizable: they see every write acknowledged before they
//     began. Reads at a revision see exactly that revision, or fail with ErrCompacted.
//  5. Follow delivers one timeline: first the whole state at one revision, then every later
//     event of every key in the order of revisions, none twice, none missing. If history that
//     it needs is gone it starts again with a whole state (Batch.Reset).
//  6. Keys and values are kube-apiserver's own: /registry/<collection>/[namespace/]name, values
//     are its JSON storage format (no resourceVersion inside). Its protobuf format is read too.
//  7. Follow soon reaches every revision that Revision has returned, by a batch without events if
//     nothing below the root was written.
//  8. A commit that fails with ErrUnavailable may have been carried out, or still be; with any
//     other error it was not, and never will be.
//  9. A process killed at any moment leaves a data directory that can be opened again, with every
//     write that it had acknowledged. What a directory holds is only ever removed if nothing can
//     have been acknowledged from it.
//  10. An embedded database that has met its quota takes puts again, without a restart, once enough
//     was removed. To make room all history is forgotten: reads at older revisions fail with
//     ErrCompacted, and Follow begins again if it was behind.
//  11. An embedded etcd that can't go on, such as on a full disk, acknowledges nothing any more, and
//     its owner is told (Config.Fatal).
//  12. A lease is revoked only if it was granted here, for one key. Keys that another program has put
//     under one lease, as kube-apiserver does with Events, stay when one of them is replaced or removed.
//  13. No request is sent to a member of an external cluster before its version and its cluster's
//     history were checked over the network path that the request takes: whenever a connection is made, as a
//     member can't be upgraded, downgraded, replaced or restored without breaking its connections.
//     Members before 3.4.31, and before 3.5.13 of 3.5, are not used: their watch progress
//     overtakes events or never comes. Open fails if one that answers is too old; one that doesn't
//     answer is checked when it does, so a cluster of three can be opened with one member down.
//  14. If an external cluster is set back to an earlier revision, or replaced by another, nothing is read
//     or written from then on: all requests fail, followers end, and the owner is told
//     (Config.Fatal, ErrSetBack). It is noticed by another cluster id, a smaller revision in a linearizable
//     answer, or when an event that was seen is not in etcd's history. If etcd has compacted that event,
//     no write is sent until each follower was given a whole state and has accepted it.
//  15. A directory of an embedded etcd of which files are missing, cut off or overwritten doesn't open, and Open says so
//     within seconds (ErrDamaged), unless etcd repairs it: a record that a crash has torn, or a lost snapshot.
//
// Why 14 ends the process, and doesn't begin anew in it: revisions that clients hold, decisions under way and
// caches belong to a history that no longer is. A supervised server starts again in a moment with none of
// that, and its clients' watches end with it. Kubernetes asks for the same: to stop all API servers before
// etcd is restored and to start them after. A kube-apiserver that wasn't stopped goes on and mixes both.
// Clients that come back with a resourceVersion of the lost history that etcd has not reached again are told
// what Kubernetes tells them (H-11, H-29); restoring with a bumped revision that is marked compacted (etcdutl
// snapshot restore --bump-revision --mark-compacted) makes them list again. One endpoint that
// belongs to another cluster while others don't is only not used.
//
// An endpoint must lead to one member, or a name to the addresses of several. Behind a load balancer that
// has one address the member that is checked may be another than that which is used.
//
// An embedded etcd listens nowhere: requests made here are function calls. It has one member, which
// acknowledges a write when it is on disk and applied, so reads of its memory are linearizable
// without a round of raft. Any number of calls may be under way at a time; etcd writes what waits
// together to the disk.
//
// Nothing here knows Kubernetes' types; what a value means is decided by the caller.
package storage
