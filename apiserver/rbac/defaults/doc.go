// Package defaults holds the roles and bindings that every cluster starts with, and says how those that
// are there are brought up to them.
//
// It guarantees:
//
//  1. policy.txt is the whole of it: what kube-apiserver v1.36.3 makes at its start. It is read when
//     first asked for, so who asks for nothing pays nothing.
//  2. Reconciling only adds. A right, subject, label or annotation that somebody has added stays; a
//     binding is made anew only if it is of another role.
//  3. What carries rbac.authorization.kubernetes.io/autoupdate with another value than true is left
//     as it is.
//
// Own code reconciles: component-helpers/auth/rbac/reconciliation links client-go's typed clients.
//
// policy.txt has a line for each object: its kind, its name, and then for a role the aggregates that it
// "gathers" or "joins", and for a binding its role and subjects. The lines below a role that begin with
// a tab are its rules: verbs, groups (core for the one without a name), resources and, where a rule is
// for some objects only, their names; or verbs, the word url, and paths.
package defaults
