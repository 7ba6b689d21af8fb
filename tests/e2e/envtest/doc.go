// Package envtest runs suites that start a control plane through controller-runtime's envtest, unmodified, with the
// directory of binaries that kubecascade envtest-assets creates. make e2e SUITE=envtest runs it.
//
//	suites_test.go  runs controller-runtime's own suites, and compares their reports with the expected ones
//	checkouts       runs the suites of other projects' checkouts, and prints a table: make e2e SUITE=envtest DIR=...
//
// It guarantees:
//
//  1. The binaries under test are those in KUBEBUILDER_ASSETS. make e2e sets this variable to a directory of links to
//     the binary of make build, without controllers.
//  2. Every spec of controller-runtime's suites passes, except for a race of pkg/cache that README.md describes. Specs
//     are counted in the suite's report, so that none is missing. Pending and skipped specs are listed.
package envtest
