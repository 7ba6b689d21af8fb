// Package perturb looks for single faults that change the result of a command: its exit code, or the objects that it
// leaves behind.
//
// It guarantees:
//
//  1. It learns from two undisturbed runs. What differs between them is not compared, and is no point for a fault.
//  2. Each other run has one fault at one request, or in one watch, of the learned ones. The seed determines the order.
//  3. It receives the runs and the end of the time as functions, and starts no goroutine.
package perturb
