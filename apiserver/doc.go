// Package apiserver assembles the API server: Kubernetes' API over a storage.Store and its cache. Here are its
// configuration, its routes, and the non-resource paths: health, discovery, OpenAPI, version.
//
// A request passes the layers from top to bottom:
//
//	filters     the wrappers of every handler: authentication, impersonation, authorization ...
//	endpoints   the verbs: negotiate, read options, decode, execute, respond
//	registry    the steps of every write: admit, prepare, validate, commit
//	render      converts stored objects to the format that the client accepts: JSON, YAML, protobuf, Table, metadata
//	status      the only table that converts errors which are not API errors to a Status
//
// Citations name a module of Kubernetes: K is k8s.io/kubernetes, AS apiserver (ASW and ASP: its admission plugins for
// webhooks and for policies), AM apimachinery, AX apiextensions-apiserver, CG client-go, PSA pod-security-admission.
//
// It guarantees:
//
//  1. Every error response below a group version is a Status. Other paths have the error responses of kube-apiserver,
//     some in plain text. If a handler panics, the response is 500 and the panic is logged.
//  2. Everything is bounded (docs/limits.md): bodies, URLs and headers, requests in flight (package flowcontrol), their
//     memory (package flowcontrol), the time that they wait, and how far a watch may fall behind.
//  3. Every path is authorized before the request has an effect or gets information (package filters).
package apiserver
