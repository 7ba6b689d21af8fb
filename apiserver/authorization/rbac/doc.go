// Package rbac authorizes requests by roles and bindings, as Kubernetes' RBAC does.
//
// It guarantees:
//
//  1. A Policy is only data: no I/O, no clock, no goroutine. Any number of goroutines may read it while none changes
//     it.
//  2. A decision uses only the bindings of the user and its groups, in the cluster and in the request's namespace. Its
//     cost does not depend on other bindings. For a subject with many bindings, an index by resource is made when it is
//     first needed. The cost of a change is linear in the subjects of the bindings that it affects.
//  3. Rules are only additive. There are no deny rules, so a missing role removes only its own permissions. The reason
//     of a denial names the missing role.
//  4. Decisions and reasons are deterministic: cluster-wide bindings precede those of the namespace, bindings of the
//     user precede those of its groups, and otherwise they are ordered by name.
//  5. If Missing returns nothing, every wanted permission is held. Permissions that are too many to compare count as
//     missing.
//
// Package apiserver updates a Policy from the cache; package bootstrap has the roles of a new cluster.
package rbac
