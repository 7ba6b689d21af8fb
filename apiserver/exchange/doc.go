// Package exchange is a request and its answer on the wire: what they hold while clients are slow, and for how long.
//
// It guarantees:
//
//  1. A client that leaves an answer unread for too long is cut off, however long the answer is. A watch has that time
//     for each piece.
//  2. What an answer keeps counts while a write waits for its client: in the pool of the request's user, what several
//     answers share once. Without room for it, an answer of the heaviest user is cut off.
//  3. Of short answers over HTTP/2, which net/http sends when the handler has returned, samples count for the others.
//  4. A body counts as its bytes come, and not by what is promised. It comes in time or not at all.
//  5. A request that waits for its client has no turn, and others have one of its seats.
//  6. A request's parameters are parsed once.
//
// A Recorder belongs to the goroutine of its request's handler; only cutting it off comes from others.
package exchange
