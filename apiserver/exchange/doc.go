// Package exchange reads requests and writes responses. It limits the memory and the time that slow clients cost.
//
// It guarantees:
//
//  1. A response is cut off if its client does not read for too long, however long the response is. A watch has that
//     time for each write.
//  2. The memory of a response counts in its user's pool while a write is blocked; memory that several responses share
//     counts once. If the pool is full, a response of the user with the most memory is cut off.
//  3. net/http sends short responses over HTTP/2 after the handler has returned. Their memory is estimated from a
//     sample.
//  4. A body is charged as its bytes arrive, not by its Content-Length. It must arrive in time.
//  5. A request that waits for its client holds no turn, and gives up its seat temporarily.
//  6. The parameters of a request are parsed once.
//  7. A client is near if its address is of a loopback interface or the server's own, as far as the connection shows: a
//     tunnel that ends on this host is near, too.
//
// A Recorder belongs to the goroutine of its request's handler. Only the call that cuts it off comes from other
// goroutines.
package exchange
