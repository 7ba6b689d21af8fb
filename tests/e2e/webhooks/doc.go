// Package webhooks tests admission and conversion webhooks as operators use them. It runs the suite of
// controller-runtime's package webhook on the server, and that of a project in kubebuilder's layout.
//
//	suites_test.go     runs suites, and compares their reports with the expected ones
//	generated_test.go  compares the project's generated files with controller-gen's output
//	project            the project, written by hand: api, config and internal/webhook are where kubebuilder puts them
//
// It guarantees:
//
//  1. Every suite has its own server. A spec that must run alone, because of a race of controller-runtime's specs that
//     suites_test.go describes, also has its own server.
//  2. Every spec of a suite passes. Specs are counted in the suite's report, so that none is missing or skipped. Specs
//     that their authors have marked as pending are listed.
//  3. The manifests and functions in project are the output of this module's controller-gen.
package webhooks

//go:generate go tool controller-gen object paths=./project/api/...
//go:generate go tool controller-gen crd paths=./project/... output:dir=project/config/crd/bases
//go:generate go tool controller-gen webhook paths=./project/... output:dir=project/config/webhook
