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
package server
