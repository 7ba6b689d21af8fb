// Package connections bounds what connections take that have sent no whole request yet, or none at all: a client needs
// no credentials to open one.
//
// It guarantees:
//
//  1. Connections count with Each bytes, and with the bytes that have come since their last request began, up to Most.
//     The sum stays within the table's limit; connections of system:masters have as much of their own.
//  2. If a connection takes too much, one is closed of the owner that has the most: of those with long parts of requests
//     the oldest, else the oldest of all. So a new connection, and a client that has few, is not kept out by many others.
//  3. Until a request on a connection has been authenticated nobody owns it: all such connections count as one owner's.
//  4. At most so many handshakes of TLS are computed at a time; one that waits for its client doesn't count.
//
// A Table owns its connections' accounts; its methods and theirs may be called from any goroutine.
package connections
