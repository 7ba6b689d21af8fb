// Package trail remembers why objects went: who requested each deletion, through which owners, and at which revision.
//
// It guarantees:
//
//  1. It keeps the last 100,000 removals (Removals) since the process started, in memory, and of objects that are being
//     deleted the last 100,000 (Terminating). Either part takes at most 64 MiB (mostBytes), as estimated: long names,
//     URIs and finalizers push out more than one older removal. Nothing is written anywhere.
//  2. A removal takes less than 300 bytes of memory with names of usual length (TestMemory), and nothing is allocated
//     before the first one. Strings that many removals share (users, agents, kinds, namespaces, owners, finalizers)
//     exist once. Strings of clients are cut off at 512 bytes.
//  3. One mutex owns everything. Recording a removal takes less than 1 µs (BenchmarkRemoved); a query by uid is a
//     look-up, a query by name a scan of what is kept, which takes a millisecond (BenchmarkFind).
//  4. It imports neither net nor k8s.io, reads no clock and starts no goroutine. It makes no decision: what it is told
//     of a request is the caller's knowledge, and it never guesses. An object whose removal it saw without the request
//     (another server over the same etcd made it) has no request.
//  5. The methods of a nil Trail do nothing.
package trail
