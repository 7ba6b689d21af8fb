// Package warnings has the warnings that kinds of several groups share: of addresses, labels, quantities and claims.
//
// It guarantees:
//
//  1. Pure: no I/O, no state.
//  2. Messages are upstream's, and come in an order that doesn't vary.
package warnings
