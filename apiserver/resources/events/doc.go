// Package events has the kinds of the group events.k8s.io: Event, which is stored as an Event of the core group.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//  4. Conversions are upstream's. Validation has rules of its own for this version.
package events
