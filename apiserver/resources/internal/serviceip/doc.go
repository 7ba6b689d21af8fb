// Package serviceip has the rules for what is allocated to services: cluster IPs, their families and node ports. The
// hooks of Service need them, and allocation, which comes before validation.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Errors have upstream's paths, order and messages, and are bounded while they are collected.
//  3. What is kept from the old service is shared only where the new one is not changed further.
package serviceip
