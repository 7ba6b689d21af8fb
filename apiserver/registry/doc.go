// Package registry reads and writes API objects, for clients and for controllers in the process. It defaults, admits,
// validates and commits each write. It does not import net/http.
//
//	registry.go, request.go  the type Registry; what all requests share: the target, the user, warnings, audit record
//	create.go  Creation: stores new objects, from the check of the namespace to the commit
//	change.go  Change: stores new states of existing objects
//	update.go  computes the new state for a PUT, a patch or an apply, which may also create the object
//	scale.go   computes the new state for a write of the subresource scale
//	delete.go  Deletion: executes the decisions of package finalizers, for one object or for all of a collection
//	write.go   the last steps of all writes: the begin and finish hooks of a kind, the commit, the conflict
//	metadata.go, strategy.go, parts.go  the fields that clients can't set, and their comparison
//	get.go, decode.go, selection.go  read one object, decode stored values, parse the selectors of a request
//	post.go    requests that a hook of the kind handles; host.go is the interface that hooks call
//	lookup.go  the interfaces that admission plugins and policies call
//	loopback.go  the in-process client; recording.go writes its requests to the audit log
//	trail.go   removals, as package trail records them
//
// It guarantees:
//
//  1. A write is decided on one revision of the object, and is stored only if that revision is still the newest. After
//     a conflict, the write is decided again, unless the client sent a resourceVersion.
//  2. A new object is stored only if its namespace and its CustomResourceDefinition have not changed since admission.
//  3. Only package finalizers decides the effect of a write on an object that is being deleted.
//  4. A dry run does everything but the commit (create.go: insert; change.go: replace; delete.go: mark and remove).
//  5. Reads come from the cache. They are as fresh as a quorum read unless the client accepts an older state.
//  6. Requests of the in-process client (Loopback) are admitted, and recorded in the audit log, like those of clients.
//     They are not authorized, but the admission plugin OwnerReferencesPermissionEnforcement checks them, too.
//  7. The code does not depend on kinds. A kind's entry of the table and its hooks have the differences.
//  8. Package trail gets each write that starts a deletion, and each removal, after its commit. It gets no commit with
//     an unknown outcome.
//  9. An error is an API error or has a row in package status.
package registry
