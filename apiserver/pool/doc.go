// Package pool limits the memory that requests hold while their bodies arrive, while they wait, and while their clients
// don't read the responses.
//
// It guarantees:
//
//  1. The bytes of users' requests stay within the limit. Requests of system:masters have a limit of the same size.
//  2. If the pool is full, the largest request of the user with the most bytes is cut off, if that user holds more than
//     the requesting user would; else the new request gets no memory. A request that is being served is not cut off.
//  3. The service accounts of a namespace count as one user.
//  4. Memory that several requests share counts once, for one of them, as long as there is one.
//  5. A request releases its memory once, however often its end is reported.
//
// Pools may be used from any goroutine. A request's function cut is called with the pool's lock held, so it must not
// call methods of the pool.
package pool
