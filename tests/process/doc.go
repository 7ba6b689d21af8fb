// Package process starts the server under test as its users do: as a process. It is a module of its own with the
// standard library alone, so that tests in modules with other versions of Kubernetes' libraries use it.
//
// It guarantees:
//
//  1. Start returns when the server is ready, and the server ends with the test, without an error.
//  2. If $KUBECASCADE_SHARED is set, all tests get the same server, and it goes back to its beginning at the end of
//     each. It ends with Run.
//
// Its functions are for tests that run one after the other.
package process
