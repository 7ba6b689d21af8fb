// Package cases is the table of conformance cases: background, foreground and orphaning deletion, finalizers,
// references, namespaces, custom resources, and responses to writes, one file each.
//
// It guarantees:
//
//  1. Every case passes on Kubernetes v1.36 with default flags. Where Kubernetes has a race or a known bug, a case
//     asserts only what always happens (section J of the rules).
//  2. A case cites the rules that it checks. The README's list of cases is generated from the same table.
//  3. Cases share nothing, and may run concurrently and in any order.
package cases
