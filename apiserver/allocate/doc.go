// Package allocate gives services their cluster IPs, node ports and address families
// (K pkg/registry/core/service/storage/alloc.go, ipallocator and portallocator).
//
// It guarantees:
//
//  1. It is pure: what is taken already is told, chance is a function that is told, and the result
//     is in the service. Nothing is remembered: an address is taken because a stored service has it,
//     so it is free again when that service goes or gives it up.
//  2. What it gives is within the range, not taken, and given once within a service. What a client
//     names is checked in the same way, and kept or refused.
//  3. The errors are the API's, in upstream's words, and the first one ends it: whoever names what
//     can't be had is not told of further faults.
//  4. Whoever stores the result makes sure that no service was written since what is taken was read.
//
// A cluster has one range of IPv4 addresses. Upstream's further ranges (ServiceCIDR), its IPAddress
// objects and a second family are not modelled.
package allocate
