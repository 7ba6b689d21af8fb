// Package filters wraps the handlers of the API: what happens to every request before, around and after its handler.
// Each file but modes.go, cache.go, credentials.go and bearer.go, which serve others, has one http.Handler wrapper.
//
// A request passes them in this order:
//
//	begin          waits for a turn to begin, and records the answer
//	origin         the plain port only: rejects web pages of other sites
//	slash          ignores slashes at the end of the path
//	measure        Audit-Id, metrics, log
//	cachecontrol   no answer is cached
//	recovery       a handler that panics answers 500
//	authenticate   the user, or 401
//	info           what the request names, parsed once (package requestinfo)
//	impersonate    the user as whom the client acts, or 403
//	head           a long URL and long headers count while the request is served
//	authorize      403 unless the user is allowed to do it
//	seat           paths that are no resource's wait for their seat
//
// It guarantees:
//
//  1. Every path is authorized before anything is done or told about it. Credentials that are wrong are 401 on every
//     path, and never make a client anonymous.
//  2. No credential is logged, or passed on to a handler.
//  3. A request is authorized by what it is served as: both are requestinfo.Info.
//
// Impersonation is our own code though k8s.io/apiserver has pkg/endpoints/filters/impersonation: that package links 189
// packages more, 55 of them informers and typed clients.
package filters
