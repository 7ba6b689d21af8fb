// Package process runs the server under test as a process, as users do.
//
// It guarantees:
//
//  1. Start returns when the server is ready. The server ends with the test, without an error.
//  2. If $KUBECASCADE_SHARED is set, tests whose servers have the same flags and temporary data share one server. It is
//     rolled back at the end of each test, and ends with Run.
//  3. Goroutines may call the methods of a Server concurrently, at any time and several times.
//
// With $KUBECASCADE_SHARED, tests that call Start must run one after the other.
package process
