// Package allocate allocates service IPs and node ports from the ranges of a cluster (K
// pkg/registry/core/service/ipallocator and portallocator).
//
// It guarantees:
//
//  1. It is pure: the allocated values and the random numbers are arguments.
//  2. A value from a Random source is in the range, free, and returned once. A value that a client requests is checked
//     in the same way. A Sample source allocates nothing.
//  3. The errors have the messages that clients see.
//
// A cluster has one range of IPv4 addresses. Upstream's further ranges (ServiceCIDR), its IPAddress objects and a
// second address family are not modelled.
package allocate
