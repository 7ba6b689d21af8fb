// Package connections limits what connections cost besides the requests that are served on them: a client needs no
// credentials to open one.
//
// It guarantees:
//
//  1. A connection counts with Each bytes, with Window more over HTTP/2, with the received bytes of a request that has
//     not begun, up to Most, and with Parsed for each byte of a long handshake, as the client's certificates are kept.
//     The sum for users stays within the table's limit. Connections of system:masters have a limit of the same size,
//     and connections on which no request has been authenticated half of it.
//  2. Above the limit a connection of the owner with the most bytes is closed: the oldest of those with long partial
//     requests, else its oldest. Of owners with equally many bytes the one that came first loses a connection.
//  3. An owner is a user or, until a request on the connection has been authenticated, an IPv4 address or an IPv6
//     network of 64 bits.
//  4. A connection counts, and Accept returns it, when its handshake has ended. Before that, at most maxSilent
//     connections have sent nothing and at most maxShaking have sent something. Beyond that the oldest of an address
//     that has an eighth of them is closed, else the oldest of all. A handshake reads at most maxHello bytes from the
//     client.
//  5. As many handshakes are computed at a time as there are places. Of those that wait the latest is next. A handshake
//     whose connection was closed, by either side, is not computed. One that waits for its client has no place.
//  6. While requests wait for their turns, or many connections have something to read, connections of HTTP/2 process
//     what they have read in turn, too: those of one owner one after the other, and more slowly while many of its
//     requests wait (see package turns). A turn takes at most 5 ms, or 1 ms before the first authenticated request, so
//     what a client sends or does not read delays other connections no longer than that.
//  7. When the listener is closed, all its goroutines have ended.
//  8. After EndUnused a connection of HTTP/2 ends when its client has its last response, if the client closes it, and
//     not a second later.
//
// The handshakes are done here and not by net/http, which does not report when one ends: a connection could neither
// count before its first request nor wait for its turn.
//
// A Table owns its connections' accounts. Its methods and theirs may be called from any goroutine.
package connections
