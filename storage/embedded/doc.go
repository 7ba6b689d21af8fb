// Package embedded runs one etcd server in this process, for package storage.
//
// It guarantees:
//
//  1. The server listens on no socket. Requests are function calls on Server.Etcd. It is the only member of its
//     cluster, and it acknowledges a write when that is on disk and applied. Its memory is therefore up to date.
//  2. Start returns when the server accepts writes. Only one process at a time can use a data directory (ErrInUse), on
//     every system.
//  3. A process that is killed at any moment leaves a data directory that can be opened again, with all acknowledged
//     writes. Start removes only the data of an interrupted first start, in which nothing was acknowledged, and
//     temporary directories of processes that have ended.
//  4. Start does not open a directory with missing or truncated files: it returns ErrDamaged within seconds. It opens a
//     directory that etcd repairs: one whose last record was torn by a crash, or one without its snapshot. If the
//     database was overwritten, bbolt may panic.
//  5. Server.Admit keeps the database within its quota. Server.Reclaim frees space without an operator once enough
//     has been removed: it compacts all history, and rewrites the file if that is much larger than its content.
//  6. A server that can't continue, such as on a full disk, acknowledges nothing more, and Config.Fatal is called. The
//     goroutine of etcd that has the error ends; other goroutines of etcd may wait for it as long as the process runs.
//
// The package does not depend on the keys and values that are stored.
package embedded
