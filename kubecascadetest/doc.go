// Package kubecascadetest starts servers for tests.
//
// It guarantees:
//
//  1. A server of New accepts requests, and is stopped at the end of the test, before which its logs are in the test's.
//     Nothing is logged after the end.
//  2. A test whose server can't start, or does not end properly, fails; a failed start prints the end of the server's
//     log.
//  3. Each server has data, ports and certificates of its own, so tests may run in parallel.
package kubecascadetest
