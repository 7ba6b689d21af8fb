// Package finalizers decides the effect of a write on an object that may be terminating. It implements the state
// machine of docs/semantics.md section C (and B-20 to B-23). It is pure: values in, a Verdict out. It imports neither
// net, os, sync nor context, and the time is an argument.
//
// It guarantees:
//
//  1. Delete and Update never change their arguments, return nothing that aliases them, and depend on nothing else. A
//     dry run makes the same call and gets the same verdict (J-21); its caller writes nothing.
//  2. A verdict lists everything that must be done, in order. The caller executes it on exactly the state for which it
//     was made (the same resourceVersion). If that state has been replaced, the caller asks for a new verdict (J-50).
//  3. No verdict makes a terminating object live again (C-90). None moves a deletion timestamp to a time that is later
//     than both the stored one and the present. A timestamp in the future only becomes earlier. A timestamp in the past
//     changes only if a DELETE shortens an overdue graceful deletion: it then becomes the present (C-34, C-44).
//  4. No verdict removes an object that would keep a finalizer, and none stores both finalizers of the collector unless
//     both were stored already.
//  5. Repeating a DELETE changes nothing (C-42) until the object changes or clocks run backwards. The first DELETE of
//     namespaces and of kinds with a cleanup finalizer is a step of its own (C-82, C-84).
//
// The caller validates the options (C-05, C-06), adds warnings (C-24), turns a Conflict into a Status (C-10 to C-13),
// writes the body of the response (C-60, C-62), and skips a write whose encoding equals the stored bytes (B-17).
package finalizers
