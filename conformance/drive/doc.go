// Package drive sends the operations of conformance/model to any Kubernetes API server, and translates its responses
// and watch events to the model's symbols. It uses only HTTP.
//
// It guarantees:
//
//  1. An operation sends the same request to every server, except for UIDs and resource versions. If an object was
//     never created, its UID is invented, and is the same for all servers.
//  2. A Session's objects have unique names, so that several sessions can use one server.
//  3. The timeline merges the watches of all kinds by resourceVersion. It has each event of the session's objects once,
//     and no others. Its length is not limited: reading removes events.
//  4. Before a session begins, its custom kinds are served, and the server's collector, if there is one, watches them.
//  5. A Session may be used by several goroutines. All its goroutines have ended when Close returns.
package drive
