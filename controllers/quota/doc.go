// Package quota keeps the status of resource quotas (resourcequota-controller): status.hard is what
// spec.hard says, status.used what the objects of the namespace use of it (package usage). Requests
// that use more are charged by the API server's admission; this finds out what became less, and what
// a new quota, or a changed one, has to begin with.
//
// It guarantees:
//
//  1. A status is written only over the state of the quota that was read before the objects were
//     counted; a charge in between is a conflict, and the namespace is counted anew.
//  2. A quota whose status doesn't know its spec yet is counted at once. Otherwise a namespace is
//     counted soon after something in it went or changed, when nobody has written its quotas for a
//     moment: what was charged for an object that isn't stored yet should not be lost. It
//     waits for such a moment no longer than maxWait.
//  3. Nothing is polled: namespaces without quotas, and those in which nothing changes, cost nothing.
//  4. What goes wrong in one namespace delays no other: each has its own back-off, and at most one pass
//     at a time. At most Options.Workers passes run at once. One goroutine owns the schedule; there are
//     no locks.
//  5. Run returns when its context is done, after everything that it started has returned.
//
// What is decided is in schedule.go (when) and package usage (what); pass.go asks and carries out,
// controller.go runs passes.
//
// Unlike upstream there is no recount of everything every five minutes: a pod that is stuck on its way
// out is counted until something else in its namespace changes.
package quota
