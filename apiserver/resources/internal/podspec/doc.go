// Package podspec has what the kinds that make pods share with pods: defaults, what writes may change, validation,
// warnings and pull policies of pod specs and pod templates.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Defaults are idempotent and only fill what is empty; of two fields that say one thing the authoritative one wins.
//  3. Errors and warnings have upstream's paths, order and messages, and are bounded while they are collected. The time
//     doesn't grow with the square of a list's length.
//  4. No panic on any spec, however odd.
package podspec
