package connections

import (
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
	// maxShaking is the limit for handshakes whose clients have sent something; maxSilent is that for the others: these
	// cost only a goroutine, and a distant client takes its time.
	maxShaking, maxSilent = 1024, 4096
	// shakeTime is the time limit of a handshake.
	shakeTime = 10 * time.Second
)

// listener returns connections that count.
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

// secureListener returns connections whose handshakes have ended.
type secureListener struct {
	net.Listener
	table  *Table
	config *tls.Config
	log    *slog.Logger
	// begin starts the goroutines at the first Accept.
	begin sync.Once
	ready chan accepted
	// done is closed by Close; ended waits for all goroutines.
	done  chan struct{}
	close sync.Once
	all   sync.WaitGroup

	mu sync.Mutex // guards what follows
	// silent and shaking are the connections with a handshake in progress, before and after their first byte.
	silent, shaking queue
	closed          bool
}

// accepted is a result of Accept.
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
		for _, q := range []*queue{&l.silent, &l.shaking} {
			for c := q.next(); c != nil; c = q.next() {
				q.remove(c)
				_ = c.shut() // its handshake ends
			}
		}
		l.mu.Unlock()
	})
	l.all.Wait()
	return err
}

// accept accepts connections until the listener is closed.
func (l *secureListener) accept() {
	for {
		under, err := l.Listener.Accept()
		if err != nil {
			if !l.deliver(accepted{err: err}) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		c := l.table.conn(under)
		c.shaking, c.spoke = true, func() { l.spoke(c) }
		if l.enter(c, &l.silent, maxSilent) {
			l.all.Go(func() { l.shake(c) })
		} else {
			_ = c.shut() // the listener is closed
		}
	}
}

// deliver passes a result to Accept; false if the listener is closed.
func (l *secureListener) deliver(a accepted) bool {
	select {
	case l.ready <- a:
		return true
	case <-l.done:
		return false
	}
}

// enter adds a connection, and closes another one if there are too many; false if the listener is closed.
func (l *secureListener) enter(c *Conn, q *queue, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if q.len() >= most {
		other := q.next()
		q.remove(other)
		l.table.count()
		_ = other.shut() // its handshake ends
	}
	q.add(c)
	return true
}

// spoke records that the connection's first byte has arrived.
func (l *secureListener) spoke(c *Conn) {
	l.mu.Lock()
	silent := l.silent.remove(c)
	l.mu.Unlock()
	if silent { // else it was closed
		l.enter(c, &l.shaking, maxShaking)
	}
}

// shake does a handshake, and passes the connection to Accept if that succeeds.
func (l *secureListener) shake(c *Conn) {
	secure := tls.Server(c, l.config)
	_ = c.SetDeadline(time.Now().Add(shakeTime)) // on a closed connection the handshake fails
	err := secure.HandshakeContext(context.Background())
	c.yield()
	c.shaking = false
	l.mu.Lock()
	_ = l.silent.remove(c) || l.shaking.remove(c)
	l.mu.Unlock()
	if err != nil {
		l.failed(c, err)
		_ = c.shut()
		return
	}
	_ = c.SetDeadline(time.Time{}) // as above
	c.secure = secure
	if c.second = secure.ConnectionState().NegotiatedProtocol == "h2"; c.second {
		c.outbox = newOutbox(c.Conn, l.table.abandoned)
	}
	l.table.enter(c)
	if !l.deliver(accepted{c: secure}) {
		_ = c.Close()
	}
}

// failed reports why a handshake failed: to the log, and to a client that speaks plain HTTP.
func (l *secureListener) failed(c *Conn, err error) {
	var header tls.RecordHeaderError
	if errors.As(err, &header) && header.Conn != nil && looksLikeHTTP(header.RecordHeader) {
		_, _ = io.WriteString(c.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
	select {
	case <-c.gone: // the server closed it
	default:
		l.log.Info("TLS handshake failed", "from", c.RemoteAddr(), "err", err)
	}
}

// looksLikeHTTP reports whether the header of a TLS record is the beginning of a plain HTTP request.
func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "PATCH", "DELET":
		return true
	}
	return false
}
