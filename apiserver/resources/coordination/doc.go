// Package coordination has the kinds of the group coordination.k8s.io: Lease.
//
// It guarantees:
//
//  1. One kind has one file, or several that begin with its name: its entry, its defaults, what writes may change, its
//     validation, its warnings and its printed columns. What several kinds of the group share stands beside them.
//  2. Resources lists the kinds, one line each.
//  3. The hooks keep what package entry says of them.
package coordination
