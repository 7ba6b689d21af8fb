// Package extension has the paths below Prefix, which kube-apiserver doesn't have. They are non-resource URLs: RBAC
// grants them by nonResourceURLs, with the HTTP method in lower case as the verb.
//
// It guarantees:
//
//  1. Every route is served behind the filters of all paths: authentication, audit, authorization, a seat of API
//     Priority and Fairness, metrics.
//  2. The index at Prefix names every route. It is how clients learn that a server has them.
package extension
