// Package memory determines how much memory this process may use, and returns to the system what it no longer needs.
//
// It guarantees:
//
//  1. Limits are only read: those of the Go runtime, of cgroups and of the machine stay as they are.
//  2. A limit that can't be determined is never an error; Limit.By names the source of the one that applies.
//  3. ReturnUnused collects garbage only while the process is idle, once after each burst of work.
package memory
