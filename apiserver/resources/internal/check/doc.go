// Package check sets and validates single values and fields for several groups: names, addresses, ports, quantities,
// percentages and enumerations. It returns warnings for some of them.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Errors have upstream's paths, types, values and messages. Values are printed as JSON.
//  3. A difference is omitted if both values together have more than 32 KiB in JSON.
package check
