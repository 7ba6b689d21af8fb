// Package finalizers decides what a write means for an object that may be dying. It is the state
// machine of SEMANTICS.md section C (and B-20 to B-23), executable and pure: values in, a Verdict
// out. It imports neither net, os, sync nor context, and is told the time.
//
// It guarantees:
//
//  1. Delete and Update never change what they are given, return nothing that aliases it, and
//     depend on nothing else. A dry run asks the same question and gets the same answer (J-21);
//     its caller writes nothing.
//  2. A verdict says everything that must be done, in order; the caller only carries it out, on
//     exactly the state that it was asked about (the same resourceVersion), and asks again if that
//     state has been replaced (J-50).
//  3. No verdict leads back from terminating to live (C-90). None moves a deletion timestamp to
//     later than both the stored one and the present: a timestamp that lies ahead only comes
//     closer, and one that has passed is moved, to the present, only where an overdue graceful
//     deletion is cut short (C-34, C-44).
//  4. No verdict removes an object that would keep a finalizer, and none stores both finalizers of
//     the collector unless both were stored already.
//  5. Repeating a DELETE changes nothing (C-42) until the object changes or clocks run backwards;
//     the first DELETE of namespaces and of kinds with a cleanup finalizer is a step of its own
//     (C-82, C-84).
//
// What is left to the caller: validating the options (C-05, C-06), warnings (C-24), turning a
// Refusal into a Status (C-10 to C-13), the body of the answer (C-60, C-62), and skipping a write
// whose encoding equals the stored bytes (B-17).
package finalizers
