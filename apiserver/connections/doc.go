// Package connections limits the resources of connections, in addition to those of their requests. A client needs no
// credentials to open a connection.
//
// It guarantees:
//
//  1. A connection is charged Each bytes, and Window more for HTTP/2. It is charged the received bytes of an incomplete
//     request, up to Most. It is charged Parsed for each byte of a long handshake, because the client's certificates
//     are kept. The sum for users stays within the table's limit. Connections of system:masters have a limit of the
//     same size, and connections without an authenticated request have half of it.
//  2. Above the limit a connection of the owner with the most bytes is closed: the oldest of those with a large
//     incomplete request, or else the oldest. If several owners have the most bytes, the one that connected first loses
//     a connection.
//  3. An owner is a user or, until a request on the connection has been authenticated, an IPv4 address or an IPv6
//     network of 64 bits.
//  4. A connection counts, and Accept returns it, when its handshake has ended. Before that, at most maxSilent
//     connections have sent nothing and at most maxShaking have sent something. Beyond that the oldest of an address
//     with at least an eighth of them, or else the oldest overall, is closed. A handshake reads at most maxHello bytes
//     from the client.
//  5. The number of handshakes that are computed at the same time is limited. Of the waiting ones, the latest is next.
//     A handshake whose connection was closed, by either side, is not computed. A handshake that waits for its client
//     does not count.
//  6. While requests wait for their turns, or many connections have input, HTTP/2 connections process their input in
//     turns, too. The connections of one owner are processed one after the other, and more slowly while many of its
//     requests wait (see package turns). A turn takes at most 5 ms, or 1 ms before the first authenticated request. A
//     client can delay other connections by no more than that.
//  7. When the listener is closed, all its goroutines have ended.
//  8. After EndUnused the server closes its side of an HTTP/2 connection as soon as it has sent the last response, so
//     that the client can close the connection. net/http alone would wait for a second.
//  9. Small writes to a connection of HTTP/2 are gathered: when one returns, at most 16 KiB of all that was written
//     have not been passed to the kernel. If the client takes nothing of that for 30 s, the connection is closed. When
//     TLS ends a connection in order, all is passed to the kernel before, unless the client delays that for 10 s, or
//     for 10 ms after Abandon, all together. After Close nothing is being sent.
//
// The handshakes are done here and not by net/http, which does not report when one ends. With net/http a connection
// could not be charged before its first request, nor wait for its turn.
//
// A Table owns its connections' accounts. Its methods and theirs may be called from any goroutine.
package connections
