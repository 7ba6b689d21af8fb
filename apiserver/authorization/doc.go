// Package authorization has the types of users and of requests to authorize, and the authorizers that need no policy.
// Its package rbac authorizes by roles.
//
// It guarantees:
//
//  1. A request that no authorizer allows is denied.
//  2. system:masters may do everything: Masters is the first in every chain.
//  3. A User is an immutable value.
package authorization
