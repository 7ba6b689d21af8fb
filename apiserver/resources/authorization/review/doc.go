// Package review handles reviews of permissions: SubjectAccessReview and its variants, and SelfSubjectRulesReview (K
// pkg/registry/authorization).
//
// It guarantees:
//
//  1. The result is that of the server's authorizer, which authorizes requests.
//  2. A selector that can't be parsed is reported in the status and otherwise ignored.
//  3. Reviews are admitted like writes (L-24).
//  4. Nothing is stored.
package review
