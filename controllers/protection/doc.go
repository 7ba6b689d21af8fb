// Package protection keeps storage objects from going while they are in use (SEMANTICS.md F-02 to
// F-08): a volume while it is bound, a claim while a pod on a node mounts it, a volume attributes
// class while a claim or a volume refers to it. Each has a finalizer for that, which the API
// server's admission gives it at birth (F-01). A controller over one Rule takes it off, and gives it
// to those that were born without.
//
// It guarantees:
//
//  1. A finalizer is taken off only in the very state that was judged: if the object has changed
//     since, the write is a conflict and the object is judged anew. Other finalizers stay, in
//     their order (F-22).
//  2. That nothing uses an object is judged by a read of its users made after the object's deletion
//     was read (F-06). What is in use is looked at again when a user of it goes, not by polling.
//  3. What goes wrong with one object delays no other: each has its own back-off, and an object has
//     at most one pass at a time. At most Options.Workers passes run at once, each over up to 64
//     objects of one namespace, which share one read of the users.
//  4. Objects that need nothing cost nothing: only those that lack the finalizer or are being deleted
//     are remembered. One goroutine owns the schedule; there are no locks.
//  5. Run returns when its context is done, after everything that it started has returned.
//
// What is decided is in pure functions: rule.go (what uses what, and what is to be done),
// schedule.go (when). pass.go asks and carries out, controller.go runs passes.
//
// Unlike upstream's, the controller of classes reads users from the API too, so it can't be early by
// an event that is still on its way.
package protection
