// Package serviceip has the rules for allocated fields of services: cluster IPs, their families and node ports. The
// hooks of Service use them, and so does allocation, which precedes validation.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Errors have upstream's paths, order and messages. Their number is limited while they are collected.
//  3. Memory is shared with the old service only if the new one is not changed further.
package serviceip
