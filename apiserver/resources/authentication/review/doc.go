// Package review handles reviews of users: TokenReview and SelfSubjectReview (K pkg/registry/authentication).
//
// It guarantees:
//
//  1. A token is authenticated like that of a request, except for the audiences in the review.
//  2. An invalid token is a result, not an error.
//  3. Reviews are admitted like writes, but neither webhooks nor policies get them (L-24, M-21).
//  4. Nothing is stored.
package review
