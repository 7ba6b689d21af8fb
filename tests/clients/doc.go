// Command clients measures a server by the clients that people have: client-go's typed, dynamic and metadata clients and
// its informers, with their defaults (HTTP/2, one connection, protobuf for built-in kinds, gzip). It shares the machine
// with the server, and decoding by client-go takes more of it than the server does, so the server's processor time is
// the figure to go by: user and system time of its process, from /proc.
//
// With several binaries, each case is run on each of them in turn, so that other load affects all.
//
//	make bench-clients
//	make bench-clients ARGS='-only list -binary /tmp/before,/tmp/after'
//	make bench-clients ARGS='-profile /tmp/p -only list'
package main
