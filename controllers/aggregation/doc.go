// Package aggregation fills cluster roles that have an aggregation rule with the rules of the selected roles, as
// Kubernetes' clusterrole-aggregation-controller does.
//
// It guarantees:
//
//  1. Changes is pure: roles in, changes out, sorted by name.
//  2. A role's rules are those of the selected roles, in the order of the selectors and then of names, each once. A
//     role never selects itself, and manual changes of its rules are overwritten.
//  3. A role with invalid selectors is not changed.
//  4. Roles that aggregate aggregated roles are filled in as many rounds as necessary. A cycle of them converges, as
//     rules are only copied.
//  5. One goroutine does everything, and is idle while no cluster role changes. Failures are retried after a pause that
//     grows to a minute.
package aggregation
