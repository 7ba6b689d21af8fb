// Package selector matches objects with label selectors of any length.
//
// It guarantees:
//
//  1. A Matcher selects the same objects as the selector that it was made from.
//  2. The time for an object with few labels does not grow with the number of terms of the selector, nor with the
//     number of values of a term.
package selector
