// Package filters has the wrappers of all handlers. They run before, around and after a handler. Each file has one
// http.Handler wrapper, except credentials.go and bearer.go, which authenticate.go uses.
//
// A request passes them in this order:
//
//	stack          grows the stack
//	begin          waits for a turn to begin, and records the response
//	origin         rejects web pages of other sites: on the plain port all, on the secure one those with certificates
//	slash          ignores slashes at the end of the path
//	measure        Audit-Id, metrics, log
//	goaway         closes some connections of HTTP/2, if it is configured
//	cachecontrol   no response is cached
//	recovery       the response is 500 if a handler panics
//	authenticate   the user, or 401
//	head           charges long URLs and headers to the memory limit while the request is served
//	info           parses the path and the query once (package requestinfo)
//	audit          the audit log, if there is one (package audit)
//	impersonation  a package: the user as whom the client acts, or 403
//	authorize      403 unless the user is allowed to do it
//	seat           non-resource requests wait for their seat
//
// It guarantees:
//
//  1. Every path is authorized before anything is done. An unauthorized client learns at most whether its path parses
//     (info.go), as from kube-apiserver. Invalid credentials result in 401 on every path, and never make a client
//     anonymous.
//  2. The audit log, if there is one, has every request of an authenticated user whose path can be parsed, even if it
//     is denied or rejected later. It also has requests with invalid or missing credentials.
//  3. No credential is logged, or passed on to a handler.
//  4. Authorization and handlers use the same requestinfo.Info.
package filters
