// Package trail records why objects were removed: who requested each deletion, because of which owners, and at which
// revision.
//
// It guarantees:
//
//  1. It keeps the last 100,000 removals (Removals) since the process started, and at most as many objects that are
//     being deleted, in memory only. Either part takes at most 64 MiB (mostBytes), as estimated: an entry with long
//     names, URIs or finalizers may replace several older entries.
//  2. Strings of clients are cut off at 512 bytes. Strings of objects are copied, so that no object stays in memory.
//  3. One mutex guards everything. A query is a scan of both parts; owners are looked up by uid.
//  4. It imports neither net nor k8s.io, reads no clock and starts no goroutine. A removal by another server over the
//     same etcd is recorded without its request, which is not known.
package trail
