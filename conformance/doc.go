// Package conformance runs cases against any Kubernetes API server, over HTTP only, and reports which of their
// assertions about deletion hold. The cases are in conformance/cases.
//
// It guarantees:
//
//  1. A case uses its own namespaces and its own cluster-scoped objects; nothing else is written. All of it is deleted
//     afterwards, also when the run is interrupted. Objects that can't be deleted in time are reported.
//  2. Nothing waits for a fixed time: expected changes are awaited, up to the case's limit. Absence is asserted only
//     after the collector has collected sentinels that were created later (T.Pass).
//  3. A failure has the expected state, the observed state, the object, the request, and the requests before it.
//  4. The result of a case depends only on the server's responses. It passes on kube-apiserver with
//     kube-controller-manager at their default flags, however slow they are.
//  5. A case that needs a kind which the server does not serve is skipped, unless it is one of the case's own
//     CustomResourceDefinitions.
//  6. Reports are in the order of the cases, whichever ended first.
//
// The list of cases in README.md is generated: go generate ./conformance.
package conformance

//go:generate go test -run ^TestReadme$ . -update
