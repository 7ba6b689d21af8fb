// Package status says what each error becomes to a client: the one table from error to Status.
//
// It guarantees:
//
//  1. Of returns a Status for every error: one that the error carries itself, a row of the table, or 500.
//  2. Errors of the API server that clients see are named here, each with its rule.
//  3. It knows no HTTP but codes.
package status
