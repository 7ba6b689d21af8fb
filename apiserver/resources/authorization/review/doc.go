// Package review answers what users may do: SubjectAccessReview and its relatives, and SelfSubjectRulesReview
// (K pkg/registry/authorization).
//
// It guarantees:
//
//  1. The answer is that of the server's authorizer, the one that decides about requests.
//  2. A selector that can't be parsed is named in the answer and otherwise ignored.
//  3. Nothing is stored.
package review
