// Package apiextensions has the kinds of the group apiextensions.k8s.io: CustomResourceDefinition.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//  4. CustomResourceDefinitions are validated by apiextensions-apiserver.
package apiextensions
