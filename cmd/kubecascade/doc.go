// Command kubecascade is a Kubernetes API server with a working garbage collector, in one process.
//
// It guarantees:
//
//  1. Errors go to standard error; results go to standard output. The exit code is 1 after an error, and 2 after wrong
//     usage or if there is no result. Invalid flags are reported before anything is opened or written.
//  2. serve prints one line when it is ready, and none before. From then until the server stops, --ready-file exists,
//     with its complete content. systemd is notified at the same times.
//  3. On SIGTERM or SIGINT, and on Windows on Ctrl-C and Ctrl-Break, serve ends its watches, completes requests in
//     flight within --shutdown-timeout, and closes the storage; a second signal ends it at once.
//  4. run prints nothing to standard output, which belongs to its command. It passes signals on to the command, ends
//     after the command with the same exit code, and leaves no files. If run is killed, the next server with temporary
//     data removes its files, and on Linux the command is terminated.
//  5. conformance only tests a server that a flag or $KUBECONFIG names, ends with exit code 1 if a case fails and 130
//     if the run is interrupted, and cleans up in both cases. So does conformance diff.
//  6. Called as kube-apiserver, the program has kube-apiserver's flags and runs no controllers by default. Called as
//     etcd, it is etcd. Exit codes are those of the two.
//  7. Code for one operating system is in files whose names end with the name of the system.
package main
