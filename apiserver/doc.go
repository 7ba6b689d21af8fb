// Package apiserver assembles the API server: Kubernetes' API over a storage.Store and its cache. Here are its
// configuration, its routes, and the paths that are no resource's: health, discovery, OpenAPI, version.
//
// A request goes one way, down:
//
//	filters     the wrappers of every handler: authentication, impersonation, authorization ...
//	endpoints   the verbs: negotiate, read options, decode, do, answer
//	registry    what every new object and every new state goes through: admit, prepare, validate, commit
//	render      from stored objects to what the client accepts: JSON, YAML, protobuf, Table, metadata
//	status      the one table from errors that are no API errors to their Status
//
// It guarantees:
//
//  1. Every failure below a group version is answered with a Status; other paths answer as kube-apiserver does, some
//     in plain text. A handler that panics answers 500 and is logged.
//  2. Nothing is unbounded: bodies, long URLs and headers, requests in flight, the memory that they take, waiting, and
//     what a watcher may lag (package inflight). What many watches leave unread of one event counts once.
//  3. Every path is authorized before anything is done or told about it (package filters).
package apiserver
