// Package status converts errors to the Status that clients get. It has the only table for errors that are not API
// errors (apimachinery's have a Status of their own).
//
// It guarantees:
//
//  1. Of returns a Status for each error: its own, that of a row of the table, or 500.
//  2. Errors of the API server that clients see are declared here, with their rules where there are.
//  3. It uses nothing of HTTP but status codes.
//
// Errors of conflicts (409) are API errors and therefore not in the table. Package registry makes most of them: exists
// in create.go, Operation.Conflict in write.go with the messages of change.go, delete.go and update.go (precondition),
// scale.go, NotMalformed in malformed.go, and preconditionFailed in delete.go, whose message is that of
// finalizers.Conflict. The others are of endpoints/apply.go (an apply that names a uid and creates),
// internal/cluster/answer.go (questions about another uid), subresources of kinds (bindings, evictions, tokens) and
// package loopback.
package status
