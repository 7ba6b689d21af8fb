// Package envtest runs suites that start a control plane through controller-runtime's envtest, unmodified, on the
// directory of binaries that kubecascade envtest-assets makes. make e2e SUITE=envtest runs it.
//
//	suites_test.go  runs controller-runtime's own suites, and compares their reports with the expected ones
//	speed_test.go   measures a small suite from start to end
//	checkouts       runs the suites of other projects' checkouts, and prints a table: make e2e SUITE=envtest DIR=...
//
// It guarantees:
//
//  1. The binaries under test are those in KUBEBUILDER_ASSETS. make e2e sets it as users do, to those of the
//     binary that make build builds, without controllers.
//  2. Every spec of controller-runtime's suites passes, but for a race of pkg/cache that README.md describes. Specs are
//     counted in the suite's report, so that none is missing; those that are pending or skipped are listed.
package envtest
