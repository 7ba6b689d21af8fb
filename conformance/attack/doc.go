// Package attack sends a running server requests that are made to exhaust it, and measures what another user notices.
//
// Three processes take part: the server, with a data directory of its own; the attacker, at a lower scheduling
// priority, as an attacker's processor is not the server's; and the observer, which sends the other user's requests at
// fixed times, however long the answers take. Processor time and memory are read from /proc, so the package needs
// Linux.
//
// It guarantees:
//
//  1. Every attack has a server of its own, which ends with it.
//  2. A server whose resident memory passes the limit is killed within some milliseconds, and the attack has failed.
//     Limits of cgroups are not used: a process without privileges can't set them everywhere.
//  3. An attack whose requests were answered with a code that shows that they never arrived where they were to (401,
//     404, 405, 406, 415; 403 unless it is expected) has failed.
//  4. A request that must be rejected is compared with the state of the server before and after it.
//  5. The processor time of a server is that of all its threads while the attack ran; its peak of memory is that since
//     the attack began.
package attack
