// Package review answers who users are: TokenReview and SelfSubjectReview (K pkg/registry/authentication).
//
// It guarantees:
//
//  1. A token is authenticated as that of a request would be, but for the audiences that the review names.
//  2. A token that is not valid is an answer, no failed request.
//  3. Nothing is stored.
package review
