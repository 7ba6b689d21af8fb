// Package defaulting fills in what is empty, for the defaults of all groups.
//
// It guarantees:
//
//  1. It only fills what is empty, but for quantities finer than a thousandth, which are rounded up.
//  2. Empty lists that JSON shows are null afterwards, as in answers of a server that stores protobuf (empty.go).
//  3. No state but a cache of what Go types look like, which any goroutine may use.
package defaulting
