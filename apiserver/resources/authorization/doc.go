// Package authorization has the kinds of the group authorization.k8s.io: the access reviews.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//  2. The server's authorizer, which also authorizes requests, decides a review. If a selector can't be parsed, the
//     status reports that, and the selector is ignored. Reviews pass through admission like writes, but webhooks and
//     policies do not receive them (L-24, M-21). Nothing is stored (K pkg/registry/authorization).
package authorization
