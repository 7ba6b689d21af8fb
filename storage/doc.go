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
//  12. A directory of an embedded etcd of which files are missing, cut off or overwritten doesn't open, and Open says so
//     within seconds (ErrDamaged), unless etcd repairs it: a record that a crash has torn, or a lost snapshot.
//
// An embedded etcd listens nowhere: requests made here are function calls. It has one member, which
// acknowledges a write when it is on disk and applied, so reads of its memory are linearizable
// without a round of raft. Any number of calls may be under way at a time; etcd writes what waits
// together to the disk.
//
// Nothing here knows Kubernetes' types; what a value means is decided by the caller.
package storage
