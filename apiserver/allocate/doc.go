// Package allocate allocates service IPs and node ports from the ranges of a cluster (K
// pkg/registry/core/service/ipallocator and portallocator).
//
// It guarantees:
//
//  1. It is pure: the ranges, the allocated values and the random numbers are arguments.
//  2. A value from a Taken is in a range, free, and returned only once. A value that a client requests must be
//     in a range and free. A Sample source allocates nothing.
//  3. If n values are allocated, the search for a free value takes at most n+1 attempts.
//  4. The errors have the messages that clients see.
//
// Ranges have IPv4 addresses, and may overlap. A second address family is not modelled.
package allocate
