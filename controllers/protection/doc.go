// Package protection prevents the deletion of storage objects that are in use (docs/semantics.md F-02 to F-08): of a
// volume while it is bound, of a claim while a pod on a node mounts it, of a volume attributes class while a claim or a
// volume refers to it. Each has a finalizer for that, which the API server's admission adds when the object is created
// (F-01). The controller for each Rule adds a missing finalizer and removes it when the object is no longer used.
//
// It guarantees:
//
//  1. A finalizer is removed only from the state on which the decision was made: if the object has changed since, the
//     write is a conflict and the decision is made again. Other finalizers are kept, in their order (F-22).
//  2. That an object is not in use is decided by a read of its users after the object's deletion was read (F-06). An
//     object in use gets another pass when a user of it is deleted, not by polling.
//  3. An error with one object delays no other: each has its own back-off, and at most one active pass. At most
//     Options.Workers passes run at a time, each over up to 64 objects of one namespace, which share one read of the
//     users.
//  4. Only objects that lack the finalizer or are being deleted are remembered; others cost nothing. One goroutine owns
//     the schedule; there are no locks.
//  5. Run returns when its context is done, after everything that it started has returned.
//
// The decisions are pure functions: rule.go (which objects use which, and what to do), schedule.go (when). pass.go
// makes the requests, controller.go runs passes.
//
// Unlike upstream's, the controller of classes reads users from the API too, so it does not depend on a delayed event.
package protection
