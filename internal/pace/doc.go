// Package pace lets the program collect garbage less often during bursts of work, of which its start is the first. It
// changes the whole process, so only the program imports it, not the library.
//
// It guarantees:
//
//  1. It begins before the packages of etcd and Kubernetes are initialized: packages that depend on no uninitialized
//     ones are initialized in the order of their paths (Go specification, "Package initialization"), and this one
//     depends on few. The start of a server allocates about 25 MiB, and would collect five times.
//  2. Between two collections at most 64 MiB more are allocated than with the runtime's own pace. A process at rest has
//     the runtime's own pace.
//  3. It does nothing if GOGC is set. A limit of memory (GOMEMLIMIT) holds.
package pace
