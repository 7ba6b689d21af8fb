package connections

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

const (
	// maxShaking bounds the handshakes that go on.
	maxShaking = 1024
	// shakeTime bounds a handshake.
	shakeTime = 10 * time.Second
)

// listener hands out connections that count.
type listener struct {
	net.Listener
	table *Table
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	under, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := l.table.conn(under)
	l.table.enter(c)
	return c, nil
}

// secureListener hands out connections when their handshakes are over.
type secureListener struct {
	net.Listener
	table  *Table
	config *tls.Config
	log    *slog.Logger
	// begin starts the goroutines, of which there are none before the first Accept.
	begin sync.Once
	ready chan accepted
	// done is closed by Close, and all ended by it.
	done  chan struct{}
	close sync.Once
	all   sync.WaitGroup

	mu sync.Mutex // guards what follows
	// shaking are the connections whose handshakes go on, the oldest first.
	shaking list.List
	closed  bool
}

// accepted is what Accept returns.
type accepted struct {
	c   net.Conn
	err error
}

// Accept implements net.Listener.
func (l *secureListener) Accept() (net.Conn, error) {
	l.begin.Do(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.closed {
			l.all.Go(l.accept)
		}
	})
	select {
	case a := <-l.ready:
		return a.c, a.err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *secureListener) Close() error {
	err := l.Listener.Close()
	l.close.Do(func() {
		close(l.done)
		l.mu.Lock()
		l.closed = true
		for e := l.shaking.Front(); e != nil; e = e.Next() {
			_ = e.Value.(*Conn).shut() // its handshake ends
		}
		l.mu.Unlock()
	})
	l.all.Wait()
	return err
}

// accept takes connections in until the listener is closed.
func (l *secureListener) accept() {
	for {
		under, err := l.Listener.Accept()
		if err != nil {
			if !l.hand(accepted{err: err}) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		c := l.table.conn(under)
		c.shaking = true
		if e := l.enter(c); e != nil {
			l.all.Go(func() { l.shake(c, e) })
		} else {
			_ = c.shut() // the listener is closed
		}
	}
}

// hand hands out what was accepted; false if the listener is closed.
func (l *secureListener) hand(a accepted) bool {
	select {
	case l.ready <- a:
		return true
	case <-l.done:
		return false
	}
}

// enter notes a connection that shakes hands, in the place of the oldest if there are too many.
func (l *secureListener) enter(c *Conn) *list.Element {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	if l.shaking.Len() >= maxShaking {
		oldest := l.shaking.Front()
		l.shaking.Remove(oldest)
		l.table.count()
		_ = oldest.Value.(*Conn).shut() // its handshake ends
	}
	return l.shaking.PushBack(c)
}

// shake shakes hands, and hands the connection out if that succeeds.
func (l *secureListener) shake(c *Conn, e *list.Element) {
	secure := tls.Server(c, l.config)
	_ = c.SetDeadline(time.Now().Add(shakeTime)) // a closed one fails by itself
	err := secure.HandshakeContext(context.Background())
	c.yield()
	c.shaking = false
	l.mu.Lock()
	l.shaking.Remove(e)
	l.mu.Unlock()
	if err != nil {
		l.failed(c, err)
		_ = c.shut()
		return
	}
	_ = c.SetDeadline(time.Time{}) // as above
	l.table.enter(c)
	if !l.hand(accepted{c: secure}) {
		_ = c.Close()
	}
}

// failed tells why there is no handshake: the log, and a client that speaks plain HTTP.
func (l *secureListener) failed(c *Conn, err error) {
	var header tls.RecordHeaderError
	if errors.As(err, &header) && header.Conn != nil && looksLikeHTTP(header.RecordHeader) {
		_, _ = io.WriteString(c.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
	select {
	case <-c.gone: // it was closed here
	default:
		l.log.Info("TLS handshake failed", "from", c.RemoteAddr(), "err", err)
	}
}

// looksLikeHTTP reports whether a record's header is how a plain request begins.
func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "PATCH", "DELET":
		return true
	}
	return false
}
