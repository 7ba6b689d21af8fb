// Package serviceaccount makes the tokens of service accounts (K pkg/registry/core/serviceaccount/storage/token.go).
//
// It guarantees:
//
//  1. A token is for the account as it is now: its uid is in the token.
//  2. A token that is bound to an object names the uid of an object that was there when it was signed.
//  3. Nothing is stored.
package serviceaccount
