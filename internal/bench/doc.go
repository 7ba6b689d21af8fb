// Command bench measures a kubecascade binary over HTTP, as a client does, and prints a table.
//
// It guarantees:
//
//  1. Every figure is of the process as a user runs it: TLS and fsync are on unless a row says otherwise, data
//     directories are new, the client shares the machine.
//  2. Times are medians over the runs, with the minimum and the maximum beside them.
//  3. It prints measurements, and has no thresholds.
//  4. On SIGINT and SIGTERM it stops the servers that it has started.
package main
