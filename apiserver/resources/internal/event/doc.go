// Package event has what the two kinds of Event share: validation, selectable fields and columns.
//
// It guarantees:
//
//  1. Pure: no I/O, no state; ages count from an argument.
//  2. Paths and columns are those of the core group's Event, which is what is stored.
package event
