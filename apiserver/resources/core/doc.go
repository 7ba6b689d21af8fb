// Package core has the kinds of the core group: pods, services, volumes, namespaces and related kinds; and Event of the
// group events.k8s.io, which is another form of the core group's.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//  4. A token is for the present account, and contains its UID; one that is bound to an object contains the UID of an
//     object that existed when the token was signed. Tokens are not stored (K
//     pkg/registry/core/serviceaccount/storage/token.go).
package core
