// Package turns is a fair semaphore with two priorities (Now and Later): it shares a few places between holders, so that
// the work of one holder delays that of another by only one turn.
//
// It guarantees:
//
//  1. At any time there are at most as many turns of a rank as it has places.
//  2. When a turn ends, the next holder begins one, in the order in which the holders began to wait. Of one holder's
//     turns of that rank the one that has waited longest begins.
//  3. A holder's turns of rank Later wait while Few or more of its turns of rank Now wait; after each Few of these, one
//     of rank Later begins.
//  4. A turn whose waiter has given up takes no place.
//  5. If the maximum number of turns of rank Now wait, another one waits only if its holder has none that waits, or
//     less than an equal share of them.
//  6. Every operation takes the same time, however many wait. It usually allocates nothing: a new goroutine that
//     allocates during a garbage collection has to assist it first, which takes as long as a whole request.
//
// A Turns may be used from any goroutine.
package turns
