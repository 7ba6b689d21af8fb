// Command bench measures a kubecascade binary as its users run it, as a process, and prints one row for each figure and
// server.
//
// It guarantees:
//
//  1. Each case runs -runs times, on all servers in turn, so that other load affects all of them. A row has the median
//     of the runs.
//  2. With -against or -peer, a ratio divides the figure of the binary under test by that of the row's server. It is
//     the median of the ratios of runs that followed each other.
//  3. Servers have TLS, new data directories, and an fsync before each write is acknowledged, unless the name of a
//     figure is of an ephemeral server or a rollback. The clients share the machine, so the processor time of a server
//     is more reliable than a rate.
//  4. It has no thresholds.
//  5. A case that fails is reported, and the others run. On SIGINT and SIGTERM all servers end, and the rows of the runs
//     before are printed.
//
// The table of the cases is stages.go. A case that fits none of the shared servers starts its own.
package main
