// Package server runs the whole server: it connects storage, API and controllers, starts them in order, and stops them.
//
// It guarantees:
//
//  1. Start returns when the server accepts requests. After an error nothing of it is left: no port, directory or
//     goroutine.
//  2. Servers of one process share no mutable state of this module. Start and Stop may be called concurrently. Settings
//     of the process stay unchanged: signals, the default logger, flags, limits and pace of the Go runtime.
//  3. Stop ends watches, completes requests in flight within Config.Shutdown, stops the controllers, and closes the
//     storage. It returns when all goroutines have ended. It may be called more than once.
//  4. A server that can't continue, as its etcd has broken down, ends by itself: Done is closed, and Err has the
//     reason. It then closes connections at once. Goroutines that wait for a broken embedded etcd never return, and its
//     data directory stays locked for the life of the process.
//  5. Errors of settings name them by the flags of "kubecascade serve". Package kubecascade translates them.
//
// Where to look:
//
//	config.go, check.go, access.go, gates.go, warn.go  settings, their validation, and warnings about them
//	server.go     start and stop
//	system.go     the parts and how they are connected; wire connects the controllers
//	data.go, directory.go, encryption.go  the storage and the cache, the data directory, what fills it
//	first.go, keep.go  the objects that every cluster has
//	ports.go, extension.go, version.go  listeners, and paths besides the API's
//	controllers.go  which server runs the controllers, and those that run; package controllers has their table
//	seed.go       the nodes of --simulate-nodes
//	snapshot.go, save.go, rollback.go, checkpointroute.go  snapshots, checkpoints and rollbacks
//	settled.go    waiting until the controllers have nothing to do
package server
