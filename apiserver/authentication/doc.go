// Package authentication authenticates requests: client certificates, proxies that name the user, static tokens
// and service account tokens.
//
// It guarantees:
//
//  1. Invalid credentials are an error. They never fall back to another identity.
//  2. No error contains a token or a part of one.
//  3. A token is verified with the algorithm of the key, not with the one that the token names. Only the result of the
//     signature check is cached: each request checks the times of its token.
//  4. Caches have a limited size. Certificates of an authority that is no longer trusted are rejected.
//  5. Headers may name the user only if the client has a certificate of the proxies' authority with an allowed name.
//
// It is stricter than kube-apiserver in one point: tokens must have an expiry, which is enforced without leeway.
// Upstream allows a minute for clock differences.
package authentication
