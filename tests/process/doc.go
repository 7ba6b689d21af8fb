// Package process runs the server under test as its users do: as a process.
//
// It guarantees:
//
//  1. Start returns when the server is ready. The server ends with the test, without an error.
//  2. If $KUBECASCADE_SHARED is set, tests whose servers have the same flags and temporary data share one. It is rolled
//     back at the end of each test, and ends with Run.
//  3. Methods of a Server may be called at any time, several times, and by several goroutines.
//
// Start is for tests that run one after the other if they share servers.
package process
