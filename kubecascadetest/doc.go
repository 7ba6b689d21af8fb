// Package kubecascadetest starts servers for tests.
//
// It guarantees:
//
//  1. New returns a server that accepts requests, and stops it at the end of the test. The server's log goes to the log
//     of the test; nothing is logged after the end.
//  2. A test whose server can't start, or does not end properly, fails; a failed start prints the end of the server's
//     log.
//  3. Each server of New has data, ports and certificates of its own, so tests may run in parallel.
//  4. Tests that use a Shared server run one after the other, and each begins with the same state: Kubernetes objects,
//     types, and the server's clock. Warnings of the server are in the log of the test that uses it.
package kubecascadetest
