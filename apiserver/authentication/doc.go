// Package authentication authenticates requests: client certificates, proxies that name the user, static tokens
// and service account tokens.
//
// It guarantees:
//
//  1. Invalid credentials are an error. They never fall back to another identity.
//  2. No error contains a token or a part of one.
//  3. A token is verified with the algorithm of the key, not with the one that the token names. It is verified for the
//     time of each request: only the result of the signature check is cached.
//  4. Caches are limited. No certificate is accepted under authorities that are no longer trusted.
//  5. Headers name a user only if the client has a certificate of the proxies' authority with an allowed name.
//
// It is stricter than kube-apiserver in one point: tokens must have an expiry, which is enforced without leeway.
// Upstream allows a minute for clock differences.
package authentication
