// Package drive sends the operations of conformance/model to any Kubernetes API server, and translates its responses
// and watch events to the model's symbols. It uses only HTTP.
//
// It guarantees:
//
//  1. One operation is the same request on every server, except for UIDs and versions. An object that was never created
//     has an invented UID that is the same on all servers.
//  2. A Session's objects have unique names, so that several sessions can use one server.
//  3. The timeline is a watch of each kind, merged by resourceVersion. It has only the session's objects, and each
//     event once. It is unbounded: reading removes events.
//  4. Custom kinds are served, and known to the server's collector if it has one, before a session begins.
//  5. A Session may be used by several goroutines. All its goroutines have ended when Close returns.
package drive
