// Command peer serves custom resources by upstream's own code, apiextensions-apiserver, with TLS and on an etcd in the
// same process that syncs each write to the disk. make bench measures it beside this project's server.
//
// Like kubecascade serve, it prints a line when it is ready, and ends on SIGINT and SIGTERM.
package main
