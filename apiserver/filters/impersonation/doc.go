// Package impersonation lets a client act as another user, by the headers Impersonate-User, -Group, -Uid and -Extra-.
//
// It guarantees:
//
//  1. Each part of the other identity is authorized, in one of Kubernetes' modes: the constrained ones, or the legacy
//     one.
//  2. The headers do not reach a handler.
//  3. The mode that allowed the last request is tried first, but every request is authorized.
//
// It is our own code though k8s.io/apiserver has pkg/endpoints/filters/impersonation: that package links 189 packages
// more, 55 of them informers and typed clients.
package impersonation
