// Package pool bounds the bytes that requests hold while their bodies come, while they wait, and while their clients
// leave answers unread.
//
// It guarantees:
//
//  1. The bytes of users' requests stay within the limit, and so do those of system:masters, which count by themselves.
//  2. When there is no room, the largest request is cut off of the user that holds the most, if that is more than the
//     user who asks would hold; else the one that asks has no room. A request that is being served is not cut off.
//  3. Service accounts of a namespace count as one user.
//  4. Memory that several requests share counts once, for one of them, as long as there is one.
//  5. What a request has been given it gives back once, however often it ends.
//
// Pools may be used from any goroutine. A request's function cut is called with the pool's lock held, so it must not
// call back.
package pool
