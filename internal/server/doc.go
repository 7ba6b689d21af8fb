// Package server runs the whole server: it connects storage, API and controllers, starts them in order, and stops them.
//
// It guarantees:
//
//  1. Start returns when the server accepts requests. After an error no part of it is left: no port, directory or
//     goroutine.
//  2. Servers of one process share no mutable state of this module. Start and Stop may be called concurrently. Settings
//     of the process stay unchanged: signals, the default logger, flags, limits of the Go runtime.
//  3. Stop ends watches, completes requests in flight within Config.Shutdown, stops the controllers, and closes the
//     storage. It returns when all goroutines have ended. It may be called more than once.
//  4. A server that can't continue, for example because its etcd has broken down, ends by itself: Done is closed, and
//     Err has the reason. It then closes connections at once. Goroutines that wait for a broken embedded etcd never
//     return, and its data directory stays locked for the life of the process.
//  5. Errors of settings name them by the flags of "kubecascade serve". Package kubecascade translates them.
//
// Where to look:
//
//	config.go     the settings, which package kubecascade makes and validates
//	server.go     Start, whose list of steps is the order of everything; lifecycle.go: how a server ends
//	data.go, directory.go, snapshot.go  the storage and the cache, the data directory, what a new one begins with
//	api.go, routes.go  the API, and its paths that kube-apiserver does not have
//	first.go      the objects that every cluster has
//	controllers.go  which server runs the controllers; package controllers has their table
//	serve.go, ports.go, drain.go  the ports
//	settled.go, save.go  waiting until the controllers have nothing to do, and saving snapshots
package server
