// Package registry carries out what is asked of objects, for clients and for controllers inside the process alike: it
// decides, defaults, mutates, validates, admits and commits. It knows no HTTP.
//
//	write.go   what all writes share
//	insert.go  every new object
//	change.go  every new state of one; link.go where only owners and finalizers go away; scale.go for replicas
//	begin.go   the hooks of a kind around both
//	delete.go  what package finalizers decides, carried out
//	get.go, state.go, selection.go  what is read: one object, a collection at a revision, what a request selects
//	post.go, virtual.go  what a kind answers by its own hooks; host.go what hooks may ask
//	lookup.go  what admission plugins look up
//	loopback.go  requests of the process's own
//
// It guarantees:
//
//  1. A write is decided on one revision of the object, and stored only if that is still the newest. A conflict is
//     decided again from the start, unless the client named a revision.
//  2. A new object is stored only if its namespace and its definition are still as they were when it was admitted.
//  3. What a write does to an object that may be dying is decided by package finalizers alone.
//  4. A dry run goes the whole way but for the last step.
//  5. Reads come from the cache, and are as fresh as a quorum read unless the client says that an older state will do.
//  6. Requests of the process's own (Loopback) are admitted as those of clients. They are not authorized; admission
//     decides on what they do to owners.
//  7. It knows no kind. What differs between kinds is in their entries of the table, and in the hooks that these name.
//  8. Errors have a row in package status, or are API errors.
package registry
