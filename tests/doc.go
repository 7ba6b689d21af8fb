// Package tests drives the server with client-go, controller-runtime and kubectl's libraries. It and the packages below,
// except e2e, are a module of their own, so that the dependencies of clients are no dependencies of the server:
//
//	aggregation  k8s.io/sample-apiserver behind the server
//	process      the server under test, as a process
//	bench        the program of make bench
//	attack       requests that try to exhaust a server
//	chaos        servers on an etcd cluster with crashes and partitions; check validates what clients saw
//	faults       servers that are killed during cascading deletions
//	meta         random operations, compared with conformance/model
//	kubectl      the command, built from the module k8s.io/kubectl
//	record       prints what upstream's admission webhooks answer (conformance/recorded/admission)
//	upstreamdiff lists what a new version of the Kubernetes modules changes
//	e2e          the suites of make e2e
//
// It guarantees:
//
//  1. The server under test is the program that the repository builds, or $KUBECASCADE_BINARY.
//  2. Nothing is needed but Go.
package tests
