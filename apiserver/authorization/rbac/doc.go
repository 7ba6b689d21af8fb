// Package rbac authorizes requests by roles and bindings, as Kubernetes' RBAC does.
//
// It guarantees:
//
//  1. A Policy is only data: no I/O, no clock, no goroutine. Any number of goroutines may read it while none changes
//     it.
//  2. A decision uses only the bindings of the user and its groups, in the cluster and in the request's namespace. Its
//     cost does not depend on the bindings of others. A subject with many bindings has an index by resource, which is
//     made when it is first needed. The cost of a change is linear in the subjects of the bindings that it affects.
//  3. Rules are only additive. There are no deny rules, so a missing role removes only its own permissions. The reason
//     of a denial names the missing role.
//  4. The same policy makes the same decision with the same reason: cluster-wide bindings precede the namespace's, the
//     user's precede the groups', and equal ones are ordered by name.
//  5. Missing never omits a permission that is not held. A set of permissions that is too large to be compared is
//     missing.
//
// Package apiserver keeps a Policy as new as a cache; package bootstrap has the roles of a new cluster.
package rbac
