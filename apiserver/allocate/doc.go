// Package allocate has the addresses and ports that a cluster gives to services: the ranges, and what of them is taken
// (K pkg/registry/core/service/ipallocator and portallocator).
//
// It guarantees:
//
//  1. It is pure: what is taken and the random numbers are arguments.
//  2. What a Random source gives is within the range, not taken, and given once. What a client names is checked in the
//     same way. A Sample source takes nothing.
//  3. The errors are worded as clients see them.
//
// A cluster has one range of IPv4 addresses. Upstream's further ranges (ServiceCIDR), its IPAddress
// objects and a second family are not modelled.
package allocate
