// Package servertest starts the whole server, the garbage collector included, in a test's process.
//
// It guarantees:
//
//  1. A server runs until the test ends, and everything that it started has ended by then.
//  2. It has a store of its own, and nobody else writes to it.
package servertest
