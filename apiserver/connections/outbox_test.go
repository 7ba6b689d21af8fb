package connections

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// sink is a connection whose writes end when the test says so.
type sink struct {
	net.Conn
	// begun has the bytes of each write, of which end ends one.
	begun  chan []byte
	end    chan error
	closed chan struct{}
}

func newSink() *sink {
	return &sink{begun: make(chan []byte, 10), end: make(chan error), closed: make(chan struct{})}
}

func (s *sink) Write(b []byte) (int, error) {
	s.begun <- b
	if err := <-s.end; err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *sink) Close() error { close(s.closed); return nil }

func (s *sink) SetWriteDeadline(time.Time) error { return nil }

// one returns the write that is in progress, and fails if there are others.
func (s *sink) one(t *testing.T) []byte {
	t.Helper()
	synctest.Wait()
	if len(s.begun) != 1 {
		t.Fatalf("%d writes have begun, want 1", len(s.begun))
	}
	return <-s.begun
}

// writing makes a write in a goroutine; its error is received.
func writing(o *outbox, b []byte) <-chan error {
	done := make(chan error, 1)
	go func() {
		n, err := o.write(b)
		if err == nil && n != len(b) {
			err = io.ErrShortWrite
		}
		done <- err
	}()
	synctest.Wait()
	return done
}

func TestOutbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSink()
		o := newOutbox(s, nil)
		for _, b := range []string{"headers,", "body"} { // no goroutine but this one runs between them
			if _, err := o.write([]byte(b)); err != nil {
				t.Fatal(err)
			}
		}
		first := s.one(t)
		if got := string(first); got != "headers,body" && got != "headers," { // it may run on another processor
			t.Errorf("sent at first: %q", got)
		}
		for _, b := range []string{"1", "2", "3"} {
			if err := <-writing(o, []byte(b)); err != nil {
				t.Fatal(err)
			}
		}
		finished := make(chan struct{})
		go func() { o.finish(); close(finished) }()
		s.end <- nil
		want := strings.TrimPrefix("headers,body123", string(first))
		if got := string(s.one(t)); got != want {
			t.Errorf("sent after %q: %q, want %q", first, got, want)
		}
		select {
		case <-finished:
			t.Error("finish has returned before all is sent")
		default:
		}
		s.end <- nil
		<-finished
		if o.sending || o.waiting != nil {
			t.Errorf("nothing is to be sent, but sending is %v, and the buffer %p", o.sending, o.waiting)
		}
	})
}

// TestOutboxFull: an outbox takes no more than its size; a long write waits for those before it, and is not copied.
func TestOutboxFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSink()
		o := newOutbox(s, nil)
		small := bytes.Repeat([]byte("s"), outboxSize/4)
		<-writing(o, small)
		s.one(t)
		for range 4 {
			if err := <-writing(o, small); err != nil {
				t.Fatal(err)
			}
		}
		long := bytes.Repeat([]byte("l"), outboxSize+1)
		done := writing(o, long)
		if len(done) > 0 {
			t.Fatal("a write beyond the size has returned")
		}
		s.end <- nil
		if got := s.one(t); !bytes.Equal(got, bytes.Repeat(small, 4)) {
			t.Errorf("sent: %d bytes, want %d", len(got), 4*len(small))
		}
		s.end <- nil
		if got := s.one(t); &got[0] != &long[0] || len(got) != len(long) {
			t.Errorf("a copy of %d bytes is sent, want the long write", len(got))
		}
		if <-writing(o, small); len(s.begun) > 0 {
			t.Error("a write has begun during another")
		}
		s.end <- nil
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := s.one(t); !bytes.Equal(got, small) {
			t.Errorf("sent after the long write: %d bytes, want %d", len(got), len(small))
		}
		s.end <- nil
		o.finish()
	})
}

// TestOutboxLong: a write of a part of the size is copied, and a longer one is not, even if nothing else is to be sent.
// If it fails, nothing is sent after it.
func TestOutboxLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n, copied := range map[int]bool{outboxSize / 4: true, outboxSize/4 + 1: false} {
			s := newSink()
			o := newOutbox(s, nil)
			b := make([]byte, n)
			done := writing(o, b)
			if got := s.one(t); len(got) != n || (&got[0] != &b[0]) != copied {
				t.Errorf("of %d bytes %d are sent, copied: %v", n, len(got), &got[0] != &b[0])
			}
			broken := errors.New("broken pipe")
			s.end <- broken
			if err := <-done; errors.Is(err, broken) == copied { // a copy is sent after the write has returned
				t.Errorf("of %d bytes: %v", n, err)
			}
			<-s.closed
			o.finish()
			if _, err := o.write([]byte("later")); !errors.Is(err, broken) {
				t.Errorf("a later write: %v", err)
			}
		}
	})
}

// TestOutboxFails: after a write has failed, the connection is closed, and all writes get its error.
func TestOutboxFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSink()
		o := newOutbox(s, nil)
		<-writing(o, []byte("first"))
		s.one(t)
		<-writing(o, bytes.Repeat([]byte("x"), outboxSize))
		waits := writing(o, []byte("waits"))
		broken := errors.New("broken pipe")
		s.end <- broken
		if err := <-waits; !errors.Is(err, broken) {
			t.Errorf("the write that waited: %v", err)
		}
		<-s.closed
		o.finish()
		if _, err := o.write([]byte("later")); !errors.Is(err, broken) {
			t.Errorf("a later write: %v", err)
		}
		if len(s.begun) > 0 || o.waiting != nil {
			t.Errorf("%d writes have begun after the error, and the buffer is %p", len(s.begun), o.waiting)
		}
	})
}

// TestCloseSendsAll: a client gets all that was written before the connection was closed, and TLS' own end.
func TestCloseSendsAll(t *testing.T) {
	l, config := secure(t, 1, func(c *tls.Config) { c.NextProtos = []string{"h2"} })
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	for range 20 {
		got := make(chan error, 1)
		go func() {
			c, err := tls.Dial("tcp", l.Addr().String(), config)
			if err != nil {
				got <- err
				return
			}
			defer c.Close()
			all, err := io.ReadAll(c) // an error unless TLS' own end comes last
			if err == nil && string(all) != strings.Repeat("ab", 100) {
				err = errors.New("got " + string(all))
			}
			got <- err
		}()
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if Of(c).outbox == nil {
			t.Fatal("the connection has no outbox")
		}
		for range 100 {
			for _, b := range []string{"a", "b"} {
				if _, err := io.WriteString(c, b); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

// stuck returns a connection over which the client reads nothing.
func stuck(t *testing.T) (c *Conn, under net.Conn) {
	table := New(1<<20, 1, turns.New[Owner](1, 1, 0))
	under, client := net.Pipe()
	t.Cleanup(func() { client.Close() })
	c = table.conn(under)
	c.second, c.outbox = true, newOutbox(under, table.abandoned)
	return c, under
}

// put writes as net/http does: with a deadline, which it removes afterwards.
func put(c *Conn, b []byte) error {
	_ = c.SetWriteDeadline(time.Now().Add(SendTime)) // it never fails
	_, err := c.Write(b)
	_ = c.SetWriteDeadline(time.Time{})
	return err
}

// TestStuck: a connection is closed when its client has taken nothing for SendTime, whatever is written meanwhile.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, under := stuck(t)
		began := time.Now()
		closed := make(chan time.Duration)
		go func() {
			_, _ = under.Read(make([]byte, 1)) // an error: that it is closed
			closed <- time.Since(began)
		}()
		if err := put(c, []byte("unread")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(SendTime / 2)
		if err := put(c, []byte("more")); err != nil {
			t.Fatal(err)
		}
		if after := <-closed; after != SendTime {
			t.Errorf("the connection was closed after %v", after)
		}
		if err := put(c, []byte("later")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a later write: %v", err)
		}
	})
}

// TestFinish: a client that reads nothing delays the end of its connection by no more than allowed, whether TLS' last
// alert fits into the outbox or not, and whatever net/http writes meanwhile.
func TestFinish(t *testing.T) {
	for _, test := range []struct {
		what    string
		waiting int // bytes, while others are being sent
		abandon time.Duration
		want    time.Duration
	}{
		{"the alert fits", outboxSize / 2, -1, endTime},
		{"the outbox is full", outboxSize, -1, 2 * endTime},
		{"after Abandon", outboxSize / 2, 0, abandonTime},
		{"after Abandon, full", outboxSize, 0, abandonTime},
		{"Abandon comes later", outboxSize / 2, time.Second, time.Second + abandonTime},
		{"Abandon comes later, full", outboxSize, time.Second, time.Second + abandonTime},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := stuck(t)
			if err := put(c, []byte("unread")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			for range test.waiting / 1024 {
				if err := put(c, make([]byte, 1024)); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			if test.abandon >= 0 {
				time.AfterFunc(test.abandon, c.table.Abandon)
				synctest.Wait()
			}
			_ = c.SetWriteDeadline(time.Now().Add(endTime)) // as tls.Conn does
			_, _ = c.Write([]byte("the alert"))             // it fails if it does not fit
			go func() { _ = put(c, []byte("x")) }()         // it may fail
			_ = c.SetWriteDeadline(time.Now())
			if took := time.Since(began); took != test.want {
				t.Errorf("%s: the end of the connection took %v, want %v", test.what, took, test.want)
			}
			if err := put(c, []byte("more")); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: a later write: %v", test.what, err)
			}
			synctest.Wait()
		})
	}
}

// TestCloseEnds: nothing is being sent after Close.
func TestCloseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := stuck(t)
		if err := put(c, []byte("unread")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_ = c.Close()
		if c.outbox.sending {
			t.Error("a goroutine is sending after Close")
		}
	})
}

// pipes is a listener for connections in this process.
type pipes struct {
	net.Listener // for its Addr
	conns        chan net.Conn
	closed       chan struct{}
	once         sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

// halting is a client's connection that reads nothing after halt is closed.
type halting struct {
	net.Conn
	halt, gone chan struct{}
}

func (h *halting) Read(b []byte) (int, error) {
	select {
	case <-h.halt:
		<-h.gone
	default:
	}
	return h.Conn.Read(b)
}

// open requests a response over HTTP/2 on a connection that p accepts, and returns when it has begun.
func (p *pipes) open(t *testing.T, config *tls.Config, halt, gone chan struct{}) {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, under := net.Pipe()
		p.conns <- under
		c := tls.Client(&halting{client, halt, gone}, config)
		return c, c.HandshakeContext(ctx)
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, DialTLSContext: dial}
	res, err := (&http.Client{Transport: transport}).Get("https://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		res.Body.Close()
		transport.CloseIdleConnections()
	})
}

// closeStuck has net/http close connections whose clients have stopped to read. What each is sent then is n bytes and
// the announcement that the connection ends.
func closeStuck(t *testing.T, clients, n int) {
	l, config := secure(t, 1, func(c *tls.Config) { c.NextProtos = []string{"h2"} })
	_ = l.Close() // its connections are those of the pipes instead
	p := &pipes{Listener: l.Listener, conns: make(chan net.Conn), closed: make(chan struct{})}
	halt, gone, full := make(chan struct{}), make(chan struct{}), make(chan struct{})
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-halt
			for range n {
				_, _ = w.Write([]byte("x"))
				w.(http.Flusher).Flush()
			}
			full <- struct{}{}
			<-r.Context().Done()
		}),
		ErrorLog:  log.New(io.Discard, "", 0),
		ConnState: func(c net.Conn, s http.ConnState) { Of(c).SetUnused(s == http.StateIdle) },
		HTTP2:     &http.HTTP2Config{WriteByteTimeout: SendTime},
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l.table.ListenTLS(p, l.config, l.log)) }()
	config.NextProtos = []string{"h2"}
	for range clients {
		p.open(t, config, halt, gone)
	}
	close(halt)
	for range clients {
		<-full
	}
	l.table.EndUnused()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("of %d clients, %d bytes: Shutdown: %v", clients, n, err)
	}
	l.table.Abandon()
	_ = server.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	close(gone)
}

// TestCloseStuck: http.Server.Close ends although net/http writes to the connections meanwhile.
func TestCloseStuck(t *testing.T) {
	for range 20 {
		closeStuck(t, 1, 10)
		closeStuck(t, 3, 10)
		closeStuck(t, 1, outboxSize/32-1) // each takes 32 bytes, so TLS' last alert does not fit
	}
}
