// Package events has the kinds of the group events.k8s.io: Event, which is stored as an Event of the core group.
//
// It guarantees:
//
//  1. One kind has one file, or several that begin with its name: its entry, its defaults, what writes may change, its
//     validation, its warnings and its printed columns. What several kinds of the group share stands beside them.
//  2. Resources lists the kinds, one line each.
//  3. The hooks keep what package entry says of them.
//  4. Conversions are upstream's. Validation has rules of its own for this version.
package events
