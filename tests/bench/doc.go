// Command bench measures a kubecascade binary as a process, as users run it. It prints one row for each figure and
// server.
//
// It guarantees:
//
//  1. Each case runs -runs times, on all servers in turn, so that other load affects all servers. A row has the median
//     of the runs.
//  2. With -against or -peer, a ratio is the figure of the binary under test divided by that of the row's server. It is
//     the median of the ratios of successive runs.
//  3. Servers use TLS, a new data directory, and an fsync before each write is acknowledged. The exceptions are
//     ephemeral servers and rollbacks, which the figures' names mention. The clients share the machine, so the
//     processor time of a server is more reliable than a rate.
//  4. It has no thresholds.
//  5. If a case fails, the failure is reported and the others run. After SIGINT and SIGTERM all servers end, and the
//     rows of the completed runs are printed.
//
// The table of cases is in stages.go. A case that can't share a server starts its own.
package main
