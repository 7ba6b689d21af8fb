// Package snapshot reads the files in which etcd keeps a cluster: snapshots as "etcdctl snapshot save" writes them, and
// the database of a data directory (member/snap/db).
//
// It guarantees:
//
//  1. A file is never written to, and not mapped into memory: it may be on a read-only file system, and a file that
//     becomes shorter while it is read causes an error, not a crash. For the database of a running etcd the error is
//     ErrInUse.
//  2. Open fails for a file that isn't whole: ErrTruncated, ErrHash, ErrDamaged. It fails with ErrForeign for files of
//     other programs, and with ErrNewer for a format that this program doesn't know. The errors name the reason.
//  3. Reading ends for any content: a pass reads each page at most once, and a page uses no more memory than the file
//     has bytes.
//  4. Records are the newest values of the keys, in the order of their revisions.
//
// The pages are read by code of this package instead of bbolt, which trusts its files: it maps them, panics on some
// invalid pages, and doesn't end if pages refer to each other in a circle (go.etcd.io/bbolt v1.5.0 cursor.go:
// goToFirstElementOnTheStack). This package has read a file completely before it is restored into a data directory.
//
// The package does not decode the values.
package snapshot
