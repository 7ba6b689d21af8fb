// Package serviceaccount makes the tokens of service accounts (K pkg/registry/core/serviceaccount/storage/token.go).
//
// It guarantees:
//
//  1. A token is for the present account: it contains its UID.
//  2. A token that is bound to an object contains the UID of an object that existed when the token was signed.
//  3. Nothing is stored.
package serviceaccount
