// Package inflight limits the resources that requests use: turns to begin, memory, seats of API Priority and Fairness,
// connections, and responses that clients have not read.
//
// It guarantees:
//
//  1. Authentication, authorization and classification run for a limited number of requests at a time, round-robin by
//     connection owner.
//  2. A request that waits for memory, for the turn of long work or for webhooks holds no seat. While it waits for
//     webhooks it holds a part of its memory. Before a request waits for anything but its turn to begin it releases
//     that turn.
//  3. Every wait ends: with the request's context, or with 429 after a quarter of the request timeout.
//  4. Limits apply to the requests that wait for their turn, to estimated memory, to unread responses and to
//     connections. docs/limits.md lists the numbers.
//
// A Limits may be used by any goroutine. Its only goroutines wait for the seats of watches; each ends with its watch.
package inflight
