// Package connections bounds what connections take besides the requests that are served on them: a client needs no
// credentials to open one.
//
// It guarantees:
//
//  1. A connection counts with Each bytes, with what has come of a request that has not begun, up to Most, and with
//     Parsed for each byte of a long handshake, as the client's certificates are kept. The sum stays within the table's
//     limit; connections of system:masters have as much of their own.
//  2. When there is no room, a connection is closed of the owner that has the most: of those with long parts of
//     requests the oldest, else the oldest of all.
//  3. An owner is a user or, until a request on the connection has been authenticated, an address.
//  4. A connection counts, and is handed out, when its handshake is over. Of those before that there are maxShaking at
//     most: the oldest is closed. A handshake takes maxHello bytes from the client at most.
//  5. As many handshakes are computed at a time as there are places; of those that wait the latest is next, and one
//     whose connection is closed, by either side, isn't computed. One that waits for its client has no place.
//  6. When the listener is closed, all its goroutines have ended.
//
// A Table owns its connections' accounts; its methods and theirs may be called from any goroutine.
package connections
