// Package filters has the wrappers of all handlers. They run before, around and after a handler. Each file has one
// http.Handler wrapper, except credentials.go and bearer.go, which authenticate.go uses, and impersonatecache.go and
// impersonatemodes.go.
//
// A request passes them in this order:
//
//	measure        Audit-Id, the recorder of the response, metrics, log
//	body           limits the size of the body and the time until it has arrived
//	origin         rejects web pages of other sites: on the plain port all, on the secure one those with certificates
//	slash          ignores slashes at the end of the path
//	goaway         closes some connections of HTTP/2, if it is configured
//	cachecontrol   no response is cached
//	recovery       the response is 500 if a handler panics
//	authenticate   the user, or 401; 429 if open requests of the user take too much memory
//	info           parses the path and the query once (package requestinfo)
//	audit          the audit log, if there is one (package audit)
//	impersonate    the user as whom the client acts, or 403
//	authorize      403 unless the user is allowed to do it
//	(endpoints)    finds the resource, or 404 (endpoints.API.Resolve)
//	timeout        the time of a request of a resource
//	readbody       the body of a write of a resource
//	seat           waits for seats of API Priority and Fairness (package flowcontrol)
//
// It guarantees:
//
//  1. Every path is authorized before anything is done. An unauthorized client learns at most whether its path parses
//     (info.go), as from kube-apiserver. Invalid credentials result in 401 on every path, and never make a client
//     anonymous.
//  2. The audit log, if there is one, has every request of an authenticated user whose path can be parsed, even if it
//     is denied or rejected later, except for the 429 of authenticate. It also has requests with invalid or missing
//     credentials.
//  3. No credential is logged, or passed on to a handler.
//  4. Authorization and handlers use the same requestinfo.Info.
//  5. A client acts as another user only if each part of that identity is authorized, in one of Kubernetes' modes: the
//     constrained ones, or the legacy one. The headers Impersonate- do not reach a handler. (The code is our own:
//     k8s.io/apiserver's package for it links 55 packages of informers and typed clients.)
package filters
