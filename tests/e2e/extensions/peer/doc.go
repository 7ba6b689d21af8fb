// Command peer serves custom resources with upstream's own code, apiextensions-apiserver. It uses TLS, and an etcd in
// the same process with an fsync for each write. make bench measures it beside this project's server.
//
// Like kubecascade serve, it prints a line when it is ready, and ends on SIGINT and SIGTERM.
package main
