// Package gzipped makes gzip streams of fragments that were compressed before, so that a list or an event is compressed
// once for all clients, and a change costs only the compression of the fragment that has the changed object.
//
// It guarantees:
//
//  1. A Writer's output is one gzip member (RFC 1952). Its content is what was written, in the same order.
//  2. A Fragment is compressed on its own: it refers to nothing before it and can follow anything. A client can read
//     all of it as soon as it has received it.
//  3. A Cache holds at most so many bytes, of those fragments that were used last. What it returns was stored for
//     exactly the same objects at the same revisions, in the same order, in the same format.
//  4. A Fragment for a client on this host is compressed only if that makes it at least four times shorter.
//
// A Cache may be used by any number of goroutines; it starts none. A Writer belongs to one.
package gzipped
