// Package namespace deletes the content of namespaces that are being deleted and then removes their finalizer
// (docs/semantics.md section E).
//
// It guarantees:
//
//  1. `kubernetes` is removed from a namespace's spec.finalizers only by a pass that deleted every collection of every
//     served type without an error and then found no object left (E-08, E-14).
//  2. While a pod remains, or may remain, no other type is deleted (E-09).
//  3. An error with one type stops no other type, and an error with one namespace delays no other namespace: each has
//     its own back-off (E-07, E-09).
//  4. A pass reads and deletes each object once. The next one begins when all objects that it left have been removed,
//     when another client changes the namespace, or after the estimate (E-13). Objects that are still terminating after
//     their grace period are deleted again. Passes over one namespace never overlap. The pause between them grows to a
//     second while they change nothing. A namespace has at most one warning a minute.
//  5. At most workers passes run at a time. One goroutine owns the schedule; there are no locks.
//  6. Run returns when its context is done, after everything that it started has returned.
//
// The decisions are pure functions: conditions.go (the reported conditions), content.go (what remains, and for how
// long), plan.go (the order, and which finalizers stay), schedule.go (when). pass.go makes the requests, controller.go
// runs passes.
//
// Unlike upstream there is no delay of 5 seconds before the first pass (J-48).
package namespace
