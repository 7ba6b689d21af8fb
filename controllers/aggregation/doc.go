// Package aggregation fills cluster roles that have an aggregation rule with the rules of the roles that
// it selects, as Kubernetes' clusterrole-aggregation-controller does.
//
// It guarantees:
//
//  1. Changes is pure: roles in, what is to be changed out, sorted by name.
//  2. A role's rules are those of the selected roles, in the order of the selectors and then of names,
//     each once. The role itself is never among those that it selects, and what was written into its
//     rules by hand doesn't stay.
//  3. A role whose selectors can't be read is left as it is.
//  4. Roles that gather from roles that gather are filled in as many rounds as it takes. A circle of
//     them settles, as rules only move and none are made.
//  5. One goroutine does it all, and idles while no cluster role changes. What fails is tried again with
//     a pause that grows to a minute.
package aggregation
