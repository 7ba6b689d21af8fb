// Package conformance runs cases against any Kubernetes API server, over HTTP only, and reports which
// of the sentences about deletion that they prove are true of it. The cases are in conformance/cases.
//
// It guarantees:
//
//  1. A case works in namespaces of its own and on cluster-scoped objects of its own; nothing else
//     is written. All of it is deleted afterwards, also when the run is interrupted; what can't be
//     deleted in time is named.
//  2. Nothing waits for a fixed time: what must happen is awaited, within the case's limit. That
//     something doesn't happen is judged only after the collector has shown, by collecting sentinels
//     made later, that it had the occasion (T.Pass).
//  3. A failure says what was expected, what was seen, the object, the request, and the requests that
//     led there.
//  4. A case is told by nothing but what the server answers; it passes on kube-apiserver with
//     kube-controller-manager at their default flags, slow as they may be.
//  5. Reports are in the order of the cases, whichever ended first.
//
// The list of cases in README.md is generated: go generate ./conformance.
package conformance

//go:generate go test -run ^TestReadme$ . -update
