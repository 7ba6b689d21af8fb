// Package check sets and validates single values and fields for several groups: names, addresses, ports, quantities,
// percentages and enumerations. It warns of some.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Errors have upstream's paths, types, values and messages. Values are printed as JSON.
//  3. Differences of more than 4,000 lines are omitted.
package check
