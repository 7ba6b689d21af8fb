// Package authorization has the kinds of the group authorization.k8s.io: the access reviews.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//  4. The result of a review is that of the server's authorizer, which authorizes requests. A selector that can't be
//     parsed is reported in the status and otherwise ignored. Reviews are admitted like writes, but neither webhooks
//     nor policies get them (L-24, M-21). Nothing is stored (K pkg/registry/authorization).
package authorization
