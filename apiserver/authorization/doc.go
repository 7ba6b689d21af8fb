// Package authorization has the types of users and of their requests, for the authorization of requests, and the
// authorizers that need no policy. Package rbac below it authorizes by roles.
//
// It guarantees:
//
//  1. A request that no authorizer allows is denied.
//  2. system:masters may do everything: Masters precedes every chain.
//  3. A User is an immutable value.
package authorization
