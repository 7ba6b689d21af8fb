// Package warnings has the warnings of several groups: for addresses, labels, quantities and claims.
//
// It guarantees:
//
//  1. Pure: no I/O, no state.
//  2. Messages are upstream's, in a deterministic order.
package warnings
