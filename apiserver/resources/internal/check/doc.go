// Package check has the rules for single values and fields that the validation of several groups needs: names,
// addresses, ports, quantities, percentages, enumerations, and how upstream prints a value in an error.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Errors have upstream's paths, types, values and messages. A value prints as upstream's internal type does.
//  3. Errors are bounded while they are collected. Differences of more than 4,000 lines aren't shown.
package check
