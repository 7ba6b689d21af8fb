// Package authentication has the kinds of the group authentication.k8s.io: the reviews of tokens and of the user.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//  4. A token is authenticated like that of a request, except for the audiences in the review; an invalid one is a
//     result, not an error. Reviews are admitted like writes, but neither webhooks nor policies get them (L-24, M-21).
//     Nothing is stored (K pkg/registry/authentication).
package authentication
