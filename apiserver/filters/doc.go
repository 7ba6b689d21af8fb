// Package filters wraps the handlers of the API: what happens to every request before, around and after its handler.
// Each file has one http.Handler wrapper, but for credentials.go and bearer.go, which authenticate.go uses.
//
// A request passes them in this order:
//
//	stack          grows the stack
//	begin          waits for a turn to begin, and records the answer
//	origin         the plain port only: rejects web pages of other sites
//	slash          ignores slashes at the end of the path
//	measure        Audit-Id, metrics, log
//	goaway         closes some connections of HTTP/2, if it is configured
//	cachecontrol   no answer is cached
//	recovery       a handler that panics answers 500
//	authenticate   the user, or 401
//	head           a long URL and long headers count while the request is served
//	info           what the request names, parsed once (package requestinfo)
//	audit          the audit log, if there is one (package audit)
//	impersonation  a package: the user as whom the client acts, or 403
//	authorize      403 unless the user is allowed to do it
//	seat           paths that are no resource's wait for their seat
//
// It guarantees:
//
//  1. Every path is authorized before anything is done. An unauthorized client learns at most whether its path parses
//     (info.go), as from kube-apiserver. Credentials that are wrong are 401 on every path, and never make a client
//     anonymous.
//  2. With an audit log every request with an authenticated user whose path parses is in it, also if it is denied or
//     rejected later; of other requests those with wrong or missing credentials are.
//  3. No credential is logged, or passed on to a handler.
//  4. A request is authorized by what it is served as: both are requestinfo.Info.
package filters
