// Package event has the common code of the two kinds of Event: validation, selectable fields and columns.
//
// It guarantees:
//
//  1. Pure: no I/O, no state; ages depend on an argument.
//  2. Paths and columns are those of the core group's Event, which is the stored kind.
package event
