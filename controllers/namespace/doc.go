// Package namespace empties namespaces that are being deleted and lets them go (SEMANTICS.md
// section E), and keeps the system namespaces in existence (E-06).
//
// It guarantees:
//
//  1. `kubernetes` is taken off a namespace's spec.finalizers only by a pass that discovered every
//     type, deleted every collection without an error and then counted nothing (E-08, E-14).
//  2. While a pod remains, or it isn't known that none does, nothing else is touched (E-09).
//  3. What goes wrong with one type stops no other type, and what goes wrong with one namespace
//     delays no other namespace: each has its own back-off (E-07, E-09).
//  4. A waiting namespace is tried again when something in it changes, not by polling; the retry
//     after half of the estimate is only for changes that nobody told of (E-13). Passes over one
//     namespace never overlap, and keep a distance that grows to a second while they change nothing.
//  5. At most Options.Workers passes run at once. One goroutine owns the schedule; there are no locks.
//  6. Run returns when its context is done, after everything that it started has returned.
//
// What is decided is in pure functions: conditions.go (what a pass reports), content.go (what
// remains and for how long), plan.go (in which order, and what is let go), schedule.go (when).
// pass.go asks and carries out, controller.go runs passes, defaults.go makes the system namespaces.
//
// Unlike upstream there is no delay of 5 seconds before the first pass (J-48).
package namespace
