// Package cases is the table of what conformance proves: background, foreground and orphaning
// deletion, finalizers, references, namespaces and custom resources, a file each.
//
// It guarantees:
//
//  1. Every case passes on Kubernetes v1.36 with default flags. Where Kubernetes races or is known to be
//     wrong, a case asserts only what comes out every time (section J of the rules).
//  2. A case cites the rules that it checks; the README's list of cases is made from the same table.
//  3. Cases share nothing, and may run at the same time and in any order.
package cases
