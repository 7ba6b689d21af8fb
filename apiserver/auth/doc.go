// Package auth says who a request comes from.
//
// It guarantees:
//
//  1. A User is a value; nobody changes one after it was made.
//  2. Wrong credentials are an error, never a fall back to another identity.
package auth
