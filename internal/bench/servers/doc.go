// Command servers starts many servers in one process, measures the cost of each, and stops them all.
//
// It guarantees:
//
//  1. Figures are medians and totals of servers that accept writes: each has created an object.
//  2. Its exit code is 1 if a goroutine is left after all servers have ended.
package main
