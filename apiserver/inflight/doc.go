// Package inflight bounds what requests take of the server: a turn to begin, memory, a seat of API Priority and
// Fairness, connections, and what clients leave unread.
//
// It guarantees:
//
//  1. What comes before a request has its seat (authentication, authorization, classification) is done for few requests
//     at a time, in turn for each owner of connections.
//  2. A request that waits for memory, for the turn of long work or for webhooks holds no seat. While it waits for
//     webhooks it holds a part of its memory. Before a request waits for anything but its turn to begin it releases
//     that turn.
//  3. Every wait ends: with the request's context, or with 429 after a quarter of the request timeout.
//  4. What waits and what is held is bounded: requests that wait for their turn, memory as estimated, unread answers,
//     connections. docs/limits.md lists the numbers.
//
// A Limits may be used by any goroutine. It starts none but those that wait for a watch's seat, each of which ends with
// its request.
package inflight
