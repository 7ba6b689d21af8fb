// Package authorization has the kinds of the group authorization.k8s.io: the access reviews.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//  2. The result of a review is that of the server's authorizer, which authorizes requests. A selector that can't be
//     parsed is reported in the status and otherwise ignored. Reviews are admitted like writes, but neither webhooks
//     nor policies get them (L-24, M-21). Nothing is stored (K pkg/registry/authorization).
package authorization
