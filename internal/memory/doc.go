// Package memory determines how much memory this process may use.
//
// It guarantees:
//
//  1. It only reads: the limits of the Go runtime, of cgroups and of the machine stay as they are.
//  2. A limit that can't be determined is never an error; Limit.By names the source of the one that applies.
package memory
