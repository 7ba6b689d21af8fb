// Command checkouts runs the suites of other projects that start a control plane through envtest, on the directory of
// binaries in KUBEBUILDER_ASSETS, and prints a table: suite, commit, passed, failed, skipped, time.
//
//	checkouts DIR
//
// DIR is a Go module, or a directory of them. A suite is a package whose tests depend on envtest. Nothing in the
// checkouts is changed. The exit code is 1 if a suite fails.
package main
