// Package servertest starts the whole server, with the garbage collector and the controllers for custom resources, in a
// test's process.
//
// It guarantees:
//
//  1. A server runs until the test ends, and everything that it started has ended by then.
//  2. It has its own store, to which nothing else writes.
package servertest
