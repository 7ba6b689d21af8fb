// Package drive sends the operations of conformance/model to a server, any Kubernetes API server,
// and reads its answers and watch events back in the model's symbols. It speaks HTTP only.
//
// It guarantees:
//
//  1. One operation is the same request on every server but for uids and versions. What nobody ever
//     created has a made-up uid that is the same everywhere.
//  2. A Session's objects have names of their own, so that many sessions can use one server.
//  3. The timeline is a watch of each kind, merged by resourceVersion; it sees only the session's
//     objects, each event once. It never forgets: who reads it takes events away.
//  4. Custom kinds are served, and known to the server's collector if it has one, before a session begins.
//  5. A Session may be used by several goroutines. All its goroutines have ended when Close returns.
package drive
