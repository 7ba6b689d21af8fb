// Package connections bounds what connections take besides the requests that are served on them: a client needs no
// credentials to open one.
//
// It guarantees:
//
//  1. A connection counts with Each bytes, Window more over HTTP/2, with what has come of a request that has not begun,
//     up to Most, and with Parsed for each byte of a long handshake, as the client's certificates are kept. The sum of
//     users' stays within the table's limit. Connections of system:masters have as much of their own, and those on
//     which no request has been authenticated half as much.
//  2. When there is no room, a connection is closed of the owner that has the most: of those with long parts of
//     requests the oldest, else the oldest of all. Of owners that have equally many the one goes that was there first.
//  3. An owner is a user or, until a request on the connection has been authenticated, an IPv4 address or an IPv6
//     network of 64 bits.
//  4. A connection counts, and is handed out, when its handshake is over. Of those before that there are maxSilent that
//     have sent nothing at most, and maxShaking others: the oldest is closed of an address that has an eighth of them,
//     else the oldest. A handshake takes maxHello bytes from the client at most.
//  5. As many handshakes are computed at a time as there are places; of those that wait the latest is next, and one
//     whose connection is closed, by either side, isn't computed. One that waits for its client has no place.
//  6. When requests wait for their turns, or many connections have something to read, connections of HTTP/2 take in what they have read in turn, too, those of
//     one owner one after the other, and slower while many of its requests wait (see package turns). A turn takes 5 ms at
//     most, or 1 ms before the first authenticated request: what a client sends, or doesn't read, keeps no other
//     connection longer.
//  7. When the listener is closed, all its goroutines have ended.
//
// Handshakes are done here, not by net/http, as that tells no one when one ends: a connection could neither be counted
// before its first request, nor wait for its turn.
//
// A Table owns its connections' accounts; its methods and theirs may be called from any goroutine.
package connections
