// Package conformance runs cases against any Kubernetes API server, over HTTP only, and reports which of their
// assertions about deletion hold. The cases are in conformance/cases.
//
// It guarantees:
//
//  1. A case writes only to its own namespaces and its own cluster-scoped objects. The run deletes all of them
//     afterwards, also when it is interrupted. It reports the objects that it can't delete in time.
//  2. A case never waits for a fixed time. It waits for an expected change, up to its timeout. It asserts that a change
//     does not happen only after the collector has deleted sentinels that were created later (T.Pass).
//  3. A failure has the expected state, the observed state, the object, the request, and the requests before it.
//  4. The result of a case depends only on the server's responses. It passes on kube-apiserver with
//     kube-controller-manager at their default flags, however slow they are.
//  5. A case is skipped if the server does not serve a kind that the case needs. It fails if the server does not serve
//     a kind of the case's own CustomResourceDefinitions.
//  6. A report lists the cases in their order, not in the order in which they ended.
//
// The list of cases in README.md is generated: go generate ./conformance.
package conformance

//go:generate go test -run ^TestReadmeListsCases$ . -update
