// Package apiserver is HTTP in, HTTP out: Kubernetes' API over a storage.Store and its cache.
//
// A request goes one way:
//
//	routes.go   chi: which handler, and for which resource, namespace, name and subresource (registry.Resolve)
//	identity.go who the client is; impersonate.go: as whom it acts; authorize.go: whether it may
//	<verb>.go   a handler of a few lines a verb: negotiate, read options, decode, do, answer
//	registry    a package: what every new object and every new state goes through: admit, prepare, validate, commit
//	render      a package: from stored objects to what the client accepts: JSON, YAML, protobuf, Table, metadata
//	status      a package: the one table from error to Status; nothing else knows an HTTP code of a failure
//
// It guarantees:
//
//  1. A handler knows no kinds. What differs between them is a field of resources.Resource.
//  2. What is asked of objects is carried out by package registry, for clients and controllers alike.
//  3. A watch that starts where a list ended misses nothing.
//  4. Every failure is answered with a Status. A handler that panics answers 500 and is logged.
//  5. Nothing is unbounded: bodies, long URLs and headers, requests in flight, the memory that they take, waiting, and
//     what a watcher may lag. What many watches leave unread of one event counts once.
//     Memory is estimated before a body is decoded (weigh.go) or an answer is made (render/cost.go). A request that
//     waits for it holds no seat.
//  6. Every path is authorized before anything is done or told about it, by what it says and, should that be something
//     else, by what it is routed to; an update that creates needs the right to create, too. Wrong credentials are 401 on
//     every path, and never make a client anonymous. No credential is logged, or passed on to a handler.
package apiserver
