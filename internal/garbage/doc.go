// Package garbage lets work that leaves much garbage say so, without a dependency on what the program does about it.
//
// It guarantees:
//
//  1. Made has no effect unless the program calls Handle.
//  2. Both may be called from any goroutine, at any time.
package garbage
