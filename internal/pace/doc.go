// Package pace lets the program collect garbage less often during bursts of work, of which its start is the first, and
// keeps the runtime's monitor from looking around too often. It changes the whole process, so only the program imports
// it, not the library.
//
// It guarantees:
//
//  1. It begins before the packages of etcd and Kubernetes are initialized: packages that depend on no uninitialized
//     ones are initialized in the order of their paths (Go specification, "Package initialization"), and this one
//     depends on few. The start of a server allocates about 25 MiB, and would collect five times.
//  2. Between two collections at most 64 MiB more are allocated than with the runtime's own pace. A process at rest has
//     the runtime's own pace. But a heap of more than 128 MiB never doubles before it is collected: it grows by 128
//     MiB, and from 256 MiB by half; by no more than about 32 MiB while work that is rare makes garbage (package
//     garbage).
//  3. It does not change the pace if GOGC is set. A limit of memory (GOMEMLIMIT) holds.
//  4. A process has a timer every second, which looks at how much was allocated; if that was more than 1 MiB, every 10
//     ms. No goroutine waits for it.
package pace
