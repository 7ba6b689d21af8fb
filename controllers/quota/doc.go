// Package quota keeps the status of resource quotas (resourcequota-controller): status.hard is a copy of spec.hard, and
// status.used is the usage of the objects in the namespace (package usage). The API server's admission adds the usage
// of requests; this controller calculates decreased usage, and the initial usage of a new or changed quota.
//
// It guarantees:
//
//  1. A status is written only over the state of the quota that was read before the objects were counted. If admission
//     writes the quota in between, that is a conflict, and the namespace is counted again.
//  2. A quota whose status doesn't have its spec yet is counted at once. Otherwise a namespace is counted after an
//     object in it was deleted or changed, once its quotas have not been written for a short time, at the latest after
//     maxWait. Without that pause, usage that admission has added for an object that isn't stored yet would be lost.
//  3. Nothing is polled: namespaces without quotas, and those without changes, cost nothing.
//  4. An error in one namespace delays no other: each has its own back-off, and at most one active pass. At most
//     Options.Workers passes run at a time. One goroutine owns the schedule; there are no locks.
//  5. Run returns when its context is done, after everything that it started has returned.
//
// schedule.go decides when a namespace is counted, and package usage counts. pass.go makes the requests, controller.go
// runs passes.
//
// Unlike upstream there is no recount of everything every five minutes: a pod whose deletion hangs is counted until
// something else in its namespace changes.
package quota
