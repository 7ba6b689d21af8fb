// Package attack sends requests that try to exhaust a server, and measures the effect on another user. Its tests need
// Linux.
//
// Three processes take part in an attack. No other attack uses the server. The attacker has a lower scheduling
// priority, because a real attacker does not use the server's processor. The other user sends requests at fixed times,
// even if responses are late.
//
// It guarantees:
//
//  1. An attack has failed if the server ends or exceeds its memory limit, or if a request of the other user fails,
//     gets 429, or (with -full) takes long.
//  2. An attack has also failed if the responses show that its requests did not reach their target, or were too few.
//  3. Processor time and peak memory are those of the server's whole life.
package attack
