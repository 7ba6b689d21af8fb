// Package service sets the cluster IPs, node ports and address families of services (K
// pkg/registry/core/service/storage/alloc.go).
//
// It guarantees:
//
//  1. Fill and Sample are pure: the allocations and the random numbers are arguments, and the result is in the service.
//     There is no other state: an address is allocated because a stored service has it. It is free again when that
//     service is deleted or releases it.
//  2. A value that it allocates is in the range, free, and unique in the service. A value that a client requests is
//     checked in the same way, and kept or rejected.
//  3. The errors are the API's, with upstream's messages. The first one ends the allocation: a client that requests an
//     unavailable value does not get further errors.
//  4. A service is stored only if no service has been written since the allocations were read (Begin).
package service
