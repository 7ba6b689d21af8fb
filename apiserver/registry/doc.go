// Package registry reads and writes API objects, for clients and for controllers inside the process. A write is
// defaulted, admitted, validated and committed. The package does not import net/http.
//
//	registry.go, target.go  the type Registry; what a path names, and which verbs are served there
//	write.go   code for all writes; metadata.go and strategy.go are the fields that clients can't set
//	create.go  create: every new object
//	update.go, patch.go, apply.go  the new state of a PUT, a patch and an apply
//	change.go  update: every new state; scale.go for replicas
//	begin.go   the begin and finish hooks of a kind around both
//	guard.go   the namespace and the CRD that a new object depends on
//	delete.go  delete: carries out the decisions of package finalizers; deletecollection.go those of a collection
//	malformed.go, readable.go  objects that can't be decoded, and which can
//	get.go, state.go, selection.go  one object, a collection at a revision, the selectors of a request
//	post.go, virtual.go  responses of a kind's own hooks; host.go is the interface that hooks call
//	connect.go  admission of connections
//	lookup.go  the interface that admission plugins call; objects.go is that of policies
//	loopback.go  the in-process client; recording.go writes its requests to the audit log
//	trail.go   what package trail is told of removals
//
// It guarantees:
//
//  1. A write is decided on one revision of the object and is stored only if that revision is still the newest. After a
//     conflict it is decided again from the start, unless the client sent a resourceVersion.
//  2. A new object is stored only if its namespace and its CustomResourceDefinition have not changed since admission.
//  3. Only package finalizers decides the effect of a write on an object that is being deleted.
//  4. A dry run does everything but the commit (create.go: insert; change.go: replace; delete.go: mark and remove).
//  5. Reads come from the cache. They are as fresh as a quorum read unless the client accepts an older state.
//  6. Requests of the in-process client (Loopback) are admitted and recorded in the audit log like those of clients.
//     They are not authorized. The owner-reference admission plugin checks them too. Without an audit log, recording
//     costs one comparison.
//  7. The code knows no kind. Differences between kinds are in their entries of the table and in the hooks of these.
//  8. Each removal, and each begin of a deletion, is told to package trail after its commit. A commit whose outcome is
//     not known is not told.
//  9. Errors have a row in package status or are API errors.
package registry
