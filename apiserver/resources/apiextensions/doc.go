// Package apiextensions has the kinds of the group apiextensions.k8s.io: CustomResourceDefinition.
//
// It guarantees:
//
//  1. One kind has one file, or several that begin with its name: its entry, its defaults, what writes may change, its
//     validation, its warnings and its printed columns. What several kinds of the group share stands beside them.
//  2. Resources lists the kinds, one line each.
//  3. The hooks keep what package entry says of them.
//  4. CustomResourceDefinitions are validated by apiextensions-apiserver; excerpts of long lists go first, so that
//     errors are bounded (excerptFirst). Of schemas all errors are collected.
package apiextensions
