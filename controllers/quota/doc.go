// Package quota keeps the status of resource quotas (resourcequota-controller): status.hard is a copy of spec.hard, and
// status.used is what the objects of the namespace use (package usage). The API server's admission adds the usage of
// requests; this controller finds out where usage decreased, and the initial usage of a new or changed quota.
//
// It guarantees:
//
//  1. A status is written only over the state of the quota that was read before the objects were counted. If admission
//     writes the quota in between, that is a conflict, and the namespace is counted again.
//  2. A quota whose status doesn't have its spec yet is counted at once. Otherwise a namespace is counted soon after an
//     object in it was deleted or changed, when its quotas were not written for a moment: usage that was added for an
//     object that isn't stored yet should not be lost. It waits for such a moment at most maxWait.
//  3. Nothing is polled: namespaces without quotas, and those without changes, cost nothing.
//  4. An error in one namespace delays no other: each has its own back-off, and at most one active pass. At most
//     Options.Workers passes run at a time. One goroutine owns the schedule; there are no locks.
//  5. Run returns when its context is done, after everything that it started has returned.
//
// schedule.go decides when, package usage what is used; pass.go makes the requests, controller.go runs passes.
//
// Unlike upstream there is no recount of everything every five minutes: a pod whose deletion hangs is counted until
// something else in its namespace changes.
package quota
