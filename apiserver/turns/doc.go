// Package turns is a fair semaphore with two priorities (Now and Later): it shares a few places between holders, so
// that the work of one holder delays that of another by only one turn.
//
// It guarantees:
//
//  1. The number of turns of a rank that are held at the same time never exceeds the places of that rank.
//  2. When a turn ends, the next waiting holder, round-robin, begins its oldest waiting turn of that rank.
//  3. A holder's turns of rank Later wait while Few or more of its turns of rank Now wait; after each Few of these, one
//     of rank Later begins.
//  4. A turn whose waiter has given up takes no place.
//  5. When the queue of rank Now is full, a turn is queued only if its holder has fewer waiting turns than an equal
//     share, or none.
//  6. Every operation takes the same time, however many wait. It usually allocates nothing: a new goroutine that
//     allocates during a garbage collection has to assist it first, which takes as long as a whole request.
//
// A Turns may be used from any goroutine.
package turns
