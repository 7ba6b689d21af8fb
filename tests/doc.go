// Package tests drives the server with client-go, controller-runtime and kubectl's libraries. It and the packages
// below, except e2e, are a separate module, because the server must not depend on the clients' modules:
//
//	aggregation  k8s.io/sample-apiserver and an adapter of metrics behind the server
//	process      the server under test, as a process
//	bench        the program of make bench
//	attack       requests that try to exhaust a server
//	chaos        servers on an etcd cluster with crashes and partitions; check checks what clients saw
//	faults       servers that are killed during cascading deletions
//	meta         random operations, compared with conformance/model
//	kubectl      the command, built from the module k8s.io/kubectl
//	record       prints the responses of upstream's admission webhooks (conformance/recorded/admission)
//	upstreamdiff lists the changes in a new version of the Kubernetes modules
//	e2e          the suites of make e2e
//
// It guarantees:
//
//  1. The server under test is the program that the repository builds, or $KUBECASCADE_BINARY.
//  2. The tests need only Go.
package tests
