// Package turns shares a few places between holders, so that the work of one delays that of another by one turn only.
//
// It guarantees:
//
//  1. There are never more turns of a rank at a time than it has places.
//  2. When a turn ends, the next holder has one, in the order in which they began to wait; of one holder's turns of
//     that rank the one that has waited longest.
//  3. A holder's turns of rank Later wait as long as Few or more of its turns of rank Now do, but for one of them after
//     each Few of these.
//  4. A turn that is not waited for any longer takes no place.
//  5. When as many turns of rank Now wait as may, another one waits only if its holder has none that waits, or less
//     than an equal share of them.
//  6. Every operation takes the same time, however many wait, and as a rule takes no memory: a new goroutine that does
//     while the garbage collector runs has to help it first, for as long as a whole request takes.
//
// A Turns may be used from any goroutine.
package turns
