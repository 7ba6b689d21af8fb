// Package rbac authorizes requests by roles and bindings, like Kubernetes' RBAC.
//
// It guarantees:
//
//  1. A Policy is only data: no I/O, no clock, no goroutine. Any number of goroutines may read it at the same time, but
//     not during a change.
//  2. A decision uses only the bindings of the user and its groups, in the cluster and in the request's namespace. Its
//     cost does not depend on other bindings. The cost of a change is linear in the subjects of the changed bindings.
//  3. Rules are only additive. There are no deny rules, so a missing role removes only its own permissions. The reason
//     of a denial names the missing role.
//  4. Decisions and reasons are deterministic: cluster-wide bindings precede those of the namespace, and bindings of
//     the user precede those of its groups. Other bindings are ordered by name.
//  5. If Missing returns nothing, the held rules cover every wanted permission. If there are too many permissions to
//     compare, the rest counts as missing.
//
// Package apiserver updates a Policy from the cache. Package bootstrap has the roles of a new cluster.
package rbac
