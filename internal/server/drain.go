package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// drainListener closes connections of HTTP/2 without requests when the server shuts down. net/http alone would keep
// each open for a second (http2: goAwayTimeout), and so the shutdown would last as long.
type drainListener struct {
	net.Listener
	// draining is set when the shutdown begins.
	draining atomic.Bool
}

// Accept implements net.Listener.
func (l *drainListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &drainConn{Conn: c, draining: &l.draining}, nil
}

// observe implements http.Server.ConnState. It records which connections have no active request.
func (l *drainListener) observe(c net.Conn, state http.ConnState) {
	secure, ok := c.(*tls.Conn)
	if !ok {
		return
	}
	if own, ok := secure.NetConn().(*drainConn); ok {
		if state == http.StateIdle {
			own.unused.Store(secure)
		} else {
			own.unused.Store(nil)
		}
	}
}

// drainConn is a connection of a drainListener.
type drainConn struct {
	net.Conn
	draining *atomic.Bool
	// unused is the TLS connection while no request is active; otherwise nil.
	unused atomic.Pointer[tls.Conn]
	close  sync.Once
}

// Write implements net.Conn. net/http writes once more after the last response: its end, or GOAWAY. After that it sends
// the client TLS's close_notify, and the client closes the connection.
func (c *drainConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if secure := c.unused.Load(); secure != nil && c.draining.Load() {
		c.close.Do(func() {
			go func() { _ = secure.CloseWrite() }() // waits until the TLS record of b is written, or for Close
		})
	}
	return n, err
}
