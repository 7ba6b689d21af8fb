// Package service gives services their cluster IPs, node ports and address families
// (K pkg/registry/core/service/storage/alloc.go).
//
// It guarantees:
//
//  1. Fill and Sample are pure: what is taken already and the random numbers are arguments, and the result is in the
//     service. Nothing is remembered: an address is taken because a stored service has it, so it is free again when that
//     service goes or gives it up.
//  2. What it gives is within the range, not taken, and given once within a service. What a client names is checked in
//     the same way, and kept or rejected.
//  3. The errors are the API's, in upstream's words, and the first one ends it: a client that names what can't be had is
//     not told of further errors.
//  4. A service is stored only if no service was written since what is taken was read (Begin).
package service
