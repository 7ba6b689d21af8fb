// Package kubecascade runs a Kubernetes API server with a working garbage collector in a Go process. Package
// kubecascadetest is more convenient in tests.
//
// It guarantees:
//
//  1. Start returns a server that accepts requests. After an error no part of the server is left. The zero Options
//     configure a server for a test: temporary data, a free port on 127.0.0.1, the default controllers, no logs.
//  2. A process can run any number of servers; they may be started and stopped concurrently. They share no mutable
//     state of this module, and never change settings of the process: signals, the default logger, flags, limits of the
//     Go runtime. They don't end the process. Some libraries have state for the whole process: counters of etcd and of
//     audit events in /metrics count for all servers.
//  3. Server.Stop ends watches, completes active requests, and returns when all goroutines of the server have ended and
//     temporary data is removed. It may be called more than once, from any goroutine.
//  4. A server that can't continue ends by itself: Server.Done is closed, and Server.Err has the reason. Goroutines
//     that wait for a broken embedded etcd never return; its data directory stays locked until the process ends.
//  5. Errors about Options name the field.
package kubecascade
