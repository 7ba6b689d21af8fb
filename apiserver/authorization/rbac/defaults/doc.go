// Package defaults has the roles and bindings of a new cluster, and reconciles existing ones with them.
//
// It guarantees:
//
//  1. policy.txt has everything: the objects that kube-apiserver creates at its start. It is parsed when it is
//     first needed.
//  2. Reconciling only adds. Rules, subjects, labels and annotations that a user has added stay. A binding is recreated
//     only if it refers to another role.
//  3. An object with the annotation rbac.authorization.kubernetes.io/autoupdate=false is not changed.
//
// The reconciliation is own code, as component-helpers/auth/rbac/reconciliation links client-go's typed clients.
//
// policy.txt has a line for each object: its kind, its name, and then for a role the aggregates that it "gathers" or
// "joins", and for a binding its role and subjects. The lines below a role that begin with a tab are its rules: verbs,
// groups (core for the one without a name), resources and, if the rule is limited to some objects, their names; or
// verbs, the word url, and paths.
package defaults
