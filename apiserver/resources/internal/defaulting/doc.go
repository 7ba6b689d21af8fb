// Package defaulting has the functions with which all groups set defaults.
//
// It guarantees:
//
//  1. It only sets empty fields, except that quantities with more than three decimals are rounded up.
//  2. Empty lists that are visible in JSON become null, as in responses of a server that stores protobuf (empty.go).
//  3. Its only state is a cache of Go types, which any goroutine may use.
package defaulting
