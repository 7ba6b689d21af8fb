// Package attack sends a server requests that try to exhaust it, and measures what another user notices. Its tests need
// Linux.
//
// Three processes take part in an attack: a server of its own, the attacker with a lower scheduling priority, as an
// attacker does not use the server's processor, and the other user, whose requests are sent at fixed times, however
// long the responses take.
//
// It guarantees:
//
//  1. An attack has failed if the server ends or exceeds the bound of its memory, if a request of the other user fails,
//     is answered with 429, or (with -full) takes long.
//  2. It has also failed if the responses show that the requests did not reach their target, or if too few came.
//  3. Processor time and the peak of memory are those of the server's whole life.
package attack
