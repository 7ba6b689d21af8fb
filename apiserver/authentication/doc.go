// Package authentication authenticates requests: users, client certificates, static tokens and service account tokens.
//
// It guarantees:
//
//  1. A User is an immutable value.
//  2. Invalid credentials are an error. They never fall back to another identity.
//  3. No error contains a token or a part of one.
//  4. A token is verified with the algorithm of the key, whatever algorithm it names, and as of the time of the
//     request: only the result of the signature check is cached.
//  5. Caches are bounded.
//
// It is stricter than kube-apiserver in one point: tokens must have an expiry, which is enforced without leeway.
// Upstream allows a minute for clock differences.
package authentication
