// Command clients measures a server by the clients that people have: client-go's typed, dynamic and metadata clients
// and its informers, with their defaults (HTTP/2, one connection, protobuf for built-in kinds, gzip). It shares the
// machine with the server, and decoding by client-go takes more of it than the server does, so the server's processor
// time is the figure to go by: user and system time of its process, from /proc. That of the clients is beside it: with
// all processors busy, no server gets more operations from them than fit into the rest. The memory is the most that
// the server had resident during the case.
//
// The limit of requests that client-go has by default, 5/s, is off. Values are 1 KiB of one letter, or base64 of random
// bytes. The age of an event is the time from before its write was sent until a handler has it.
//
// The cases of single objects share one client, and so one connection, between goroutines, but for those of 32
// connections. With -plain, a handler in a process of its own answers as the server did once, with the same bytes:
// HTTP/2, TLS and nothing else. Another one first stores each write in an etcd in its process, as the server does. They
// show what net/http, etcd and the machine allow. To informers they send the server's event of the first write
// for each write, with another name and time, compressed once for all.
//
// With -peer, the cases of custom resources are also run on apiextensions-apiserver: upstream's own code, with TLS and
// an etcd that syncs, in one process (tests/extensions/peer). It has no namespaces, admission plugins or priorities.
//
// With several binaries, each case is run on each of them in turn, so that other load affects all.
//
//	make bench-clients
//	make bench-clients ARGS='-only list -binary /tmp/before,/tmp/after'
//	make bench-clients ARGS='-plain -only "32 goroutines"'
//	make bench-clients ARGS='-only kubectl -kubectl /usr/bin/kubectl'
//	make bench-peer ARGS='-runs 1'
//	make bench-clients ARGS='-profile /tmp/p -only list'
package main
