// Package status converts errors to the Status that clients get. It has the only table for errors that are not API
// errors. API errors of apimachinery have their own Status.
//
// It guarantees:
//
//  1. Of returns a Status for each error: the error's own Status, that of its row in the table, or one with the code
//     500.
//  2. Errors of the API server that clients see are declared here, with the IDs of their rules.
//  3. It does not depend on HTTP, except for the status codes.
//
// Errors of conflicts (409) are API errors, and therefore not in the table. Package registry makes most of them
// (Target.Conflict, Creation.exists, Target.preconditionFailed, Target.checkScale). Others are in the subresources of
// kinds (bindings, evictions, tokens), internal/cluster/answer.go and loopback/gc.go.
package status
