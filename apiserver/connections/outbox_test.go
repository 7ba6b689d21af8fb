package connections

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
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
		o := newOutbox(s)
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
		flushed := make(chan struct{})
		go func() { o.flush(); close(flushed) }()
		s.end <- nil
		want := strings.TrimPrefix("headers,body123", string(first))
		if got := string(s.one(t)); got != want {
			t.Errorf("sent after %q: %q, want %q", first, got, want)
		}
		select {
		case <-flushed:
			t.Error("flush has returned before all is sent")
		default:
		}
		s.end <- nil
		<-flushed
		if o.sending || o.waiting != nil {
			t.Errorf("nothing is to be sent, but sending is %v, and the buffer %p", o.sending, o.waiting)
		}
	})
}

// TestOutboxFull: an outbox takes no more than its size; a long write waits for those before it, and is not copied.
func TestOutboxFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSink()
		o := newOutbox(s)
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
		o.flush()
	})
}

// TestOutboxFails: after a write has failed, the connection is closed, and all writes get its error.
func TestOutboxFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSink()
		o := newOutbox(s)
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
		o.flush()
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

// TestAbandon: what a client does not read delays the end of its connection up to the deadline that is set before, and
// hardly after Abandon. Close ends what is being sent.
func TestAbandon(t *testing.T) {
	for _, abandoned := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			table := New(1<<20, 1, turns.New[Owner](1, 1, 0))
			under, client := net.Pipe()
			defer client.Close()
			c := table.conn(under)
			c.second, c.outbox = true, newOutbox(under)
			if abandoned {
				table.Abandon()
			}
			if _, err := io.WriteString(c, "unread"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want := 5 * time.Second
			if err := c.SetWriteDeadline(time.Now().Add(want)); err != nil {
				t.Fatal(err)
			}
			if abandoned {
				want = abandonTime
			}
			began := time.Now()
			_ = c.SetWriteDeadline(time.Now()) // the connection is closed by then
			if took := time.Since(began); took != want {
				t.Errorf("the end of the connection took %v, want %v", took, want)
			}
			if _, err := io.WriteString(c, "more"); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a later write: %v", err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		under, client := net.Pipe()
		defer client.Close()
		c := New(1<<20, 1, turns.New[Owner](1, 1, 0)).conn(under)
		c.second, c.outbox = true, newOutbox(under)
		if _, err := io.WriteString(c, "unread"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_ = c.Close()
		if c.outbox.sending {
			t.Error("a goroutine is sending after Close")
		}
	})
}
