package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// ending closes connections of HTTP/2 without requests when the server shuts down. net/http alone would keep each open
// for a second (http2: goAwayTimeout), and with them the shutdown.
type ending struct {
	net.Listener
	// begun is set when the shutdown begins.
	begun atomic.Bool
}

// Accept implements net.Listener.
func (e *ending) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &endingConn{Conn: c, begun: &e.begun}, nil
}

// observe is http.Server's ConnState.
func (e *ending) observe(c net.Conn, state http.ConnState) {
	secure, ok := c.(*tls.Conn)
	if !ok {
		return
	}
	if own, ok := secure.NetConn().(*endingConn); ok {
		if state == http.StateIdle {
			own.unused.Store(secure)
		} else {
			own.unused.Store(nil)
		}
	}
}

// endingConn is a connection of ending.
type endingConn struct {
	net.Conn
	begun *atomic.Bool
	// unused is the TLS above while no request is active; else nil.
	unused atomic.Pointer[tls.Conn]
	close  sync.Once
}

// Write implements net.Conn. net/http writes once more after the last response: its end, or the announcement that the
// connection ends. After it the client is told that nothing follows, and closes the connection.
func (c *endingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if secure := c.unused.Load(); secure != nil && c.begun.Load() {
		c.close.Do(func() {
			go func() { _ = secure.CloseWrite() }() // waits for the TLS record of which b is a part, or for Close
		})
	}
	return n, err
}
