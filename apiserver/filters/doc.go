// Package filters has the wrappers of all handlers. They run before, around and after a handler. Each file has one
// http.Handler wrapper, except credentials.go and bearer.go, which authenticate.go uses, and impersonatecache.go and
// impersonatemodes.go, which impersonate.go uses.
//
// A request passes them in this order:
//
//	measure        Audit-Id, the recorder of the response, metrics, log
//	body           limits the size of the body and the time until it has arrived
//	origin         rejects web pages of other sites: all on the plain port, those with certificates on the secure port
//	slash          ignores slashes at the end of the path
//	goaway         closes some HTTP/2 connections, if it is configured
//	cachecontrol   forbids caching of responses
//	recovery       responds with 500 if a handler panics
//	authenticate   finds the user, or responds with 401, or 429 if the user's open requests take too much memory
//	info           parses the path and the query once (package requestinfo)
//	audit          records the request in the audit log, if there is one (package audit)
//	impersonate    replaces the user with the one that the client impersonates, or responds with 403
//	authorize      responds with 403 unless the user is allowed to make the request
//	(endpoints)    finds the resource, or responds with 404 (endpoints.API.Resolve)
//	timeout        limits the time of a request for a resource
//	readbody       reads the body of a write of a resource
//	(endpoints)    injects faults, if there are plans (endpoints.API.Fault)
//	seat           waits for seats of API Priority and Fairness (package flowcontrol)
//
// It guarantees:
//
//  1. Every path is authorized before its handler runs. An unauthorized client learns at most whether its path can be
//     parsed (info.go), as from kube-apiserver. Invalid credentials result in 401 on every path, and never make a
//     client anonymous.
//  2. The audit log, if there is one, has every request of an authenticated user whose path can be parsed, even if a
//     later filter denies or rejects the request. The only exception is the 429 of authenticate. The log also has
//     requests with invalid or missing credentials.
//  3. No credential is logged, or passed on to a handler.
//  4. Authorization and handlers use the same requestinfo.Info.
//  5. A client acts as another user only if each part of that identity is authorized in one of Kubernetes' modes of
//     impersonation. The headers Impersonate-* do not reach a handler. (The code is our own, because the package of
//     k8s.io/apiserver imports 55 packages of informers and typed clients.)
package filters
