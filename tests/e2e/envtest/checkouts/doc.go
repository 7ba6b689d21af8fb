// Command checkouts runs the suites of other projects that start a control plane through envtest, with the binaries in
// KUBEBUILDER_ASSETS. It prints a table: suite, commit, passed, failed, skipped, time.
//
//	checkouts DIR
//
// DIR is a Go module, or a directory of Go modules. A suite is a package whose tests depend on envtest. The command
// does not change the checkouts. The exit code is 1 if a suite fails.
package main
