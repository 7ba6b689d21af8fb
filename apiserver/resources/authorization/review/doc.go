// Package review handles reviews of permissions: SubjectAccessReview and its variants, and SelfSubjectRulesReview (K
// pkg/registry/authorization).
//
// It guarantees:
//
//  1. The result is that of the server's authorizer, which authorizes requests.
//  2. A selector that can't be parsed is reported in the status and otherwise ignored.
//  3. Reviews are admitted like writes, but neither webhooks nor policies get them (L-24, M-21).
//  4. Nothing is stored.
package review
