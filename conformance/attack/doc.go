// Package attack sends a running server requests that try to exhaust it, and measures the effect on another user.
//
// Three processes take part. The server has its own data directory. The attacker has a lower scheduling priority, as an
// attacker does not use the server's processor. The observer sends the other user's requests at fixed times, however
// long the responses take. Processor time and memory are read from /proc, so the package needs Linux.
//
// It guarantees:
//
//  1. Every attack has its own server, which ends with it.
//  2. A server whose resident memory exceeds the limit is killed within some milliseconds, and the attack has failed.
//     Limits of cgroups are not used: a process without privileges can't set them everywhere.
//  3. An attack has failed if the code of its responses shows that the requests did not reach their target (401, 404,
//     405, 406, 415; 403 unless it is expected).
//  4. For a request that must be rejected, the states of the server before and after it are compared.
//  5. The processor time of a server is that of all its threads during the attack. Its peak of memory is that since the
//     attack began.
package attack
