// Package apiserver is HTTP in, HTTP out: Kubernetes' API over a storage.Store and its cache.
//
// A request goes one way:
//
//	routes.go   chi: which handler; path.go: which resource, namespace, name, subresource
//	identity.go who asks; impersonate.go: as whom; authorize.go: whether they may
//	<verb>.go   a handler of a few lines a verb: negotiate, read options, decode, do, answer
//	insert.go   the pipe that every new object goes through: admit, prepare, validate, commit
//	change.go   the same for every new state of one; write.go: what both need
//	status.go   the one table from error to Status; nothing else knows an HTTP code of a failure
//	render.go   from stored bytes to what the client accepts: JSON, YAML, protobuf, Table, metadata
//
// It guarantees:
//
//  1. A handler knows no kinds. What differs between them is a field of resources.Resource.
//  2. A write is decided on one revision of the object and stored only if that is still the
//     newest; a lost race is decided again from the start, unless the client named a revision. A new
//     object is stored only if its namespace and its definition are still as they were when it was judged.
//  3. What a write does to an object that may be dying is decided by package finalizers alone.
//  4. Reads come from the cache, and are as fresh as a quorum read unless the client says that
//     an older state will do. A watch that starts where a list ended misses nothing.
//  5. Controllers inside the process use Loopback: the same pipe, the same admission, an
//     identity of their own. There is no private door; the additions are a commit's guards, and that
//     what only takes owners and finalizers away is done on the metadata alone (link.go), with the same result.
//     Requests of theirs are not authorized, but admission judges what they do to owners.
//  6. Every failure is answered with a Status. A handler that panics answers 500 and is logged.
//  7. Nothing is unbounded: bodies, long URLs and headers, requests in flight, the memory that they take, waiting, and
//     what a watcher may lag. What many watches leave unread of one event counts once.
//     Memory is estimated before a body is decoded (weigh.go) or an answer is made (cost.go). A request that
//     waits for it holds no seat.
//  8. Every path is judged before anything is done or told about it, by what it says and, should that
//     be something else, by what it is routed to; an update that creates needs the right to create, too. Wrong credentials are 401 on every path, and never
//     make a client anonymous. No credential is logged, or passed on to a handler.
package apiserver
