// Package rbac judges requests by roles and bindings, as Kubernetes' RBAC does.
//
// It guarantees:
//
//  1. A Policy is a value of what was set in it: no I/O, no clock, no goroutine. Any number of
//     goroutines may read it while none changes it.
//  2. A decision looks only at the bindings of the user and its groups, in the cluster and in the
//     request's namespace; its cost doesn't grow with the bindings of others. A subject with many
//     bindings has an index by resource, made when first needed. What a change costs grows with the
//     subjects of the bindings that it is about, and no faster.
//  3. Rules only add up. Nothing forbids, so a role that is missing takes away no more than itself;
//     it is named in the reason of a refusal.
//  4. The same policy gives the same decision with the same reason: cluster-wide bindings before the
//     namespace's, the user's before the groups', by name.
//  5. Missing never says that a right is held when it isn't. A set of rights that is too large to be
//     compared is missing.
//
// Package live keeps a Policy as new as a cache; package defaults holds the roles of a new cluster.
package rbac
