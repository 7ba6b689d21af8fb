package exchange

import (
	"io"
	"net/http"
	"os"
	"time"
)

// HeadPatience is how long a body may take that comes after its answer, as net/http reads it.
const HeadPatience = time.Second

// Body bounds how long a client may take to send its body, also the rest of it: what a handler has
// left net/http reads before it answers. Over HTTP/1 the deadline is taken back at the end, for while a handler
// works net/http reads on to notice a hang-up, and would take a missed deadline for one. Over HTTP/2 it is the
// stream's.
type Body struct {
	body  io.ReadCloser
	proto int
	// set changes the connection's deadline.
	set func(time.Time) error
	// ended says that there is nothing left to read.
	ended bool
}

// NewBody sets the deadline.
func NewBody(w http.ResponseWriter, r *http.Request, deadline time.Time) *Body {
	b := &Body{body: r.Body, proto: r.ProtoMajor, set: http.NewResponseController(w).SetReadDeadline}
	_ = b.set(deadline) // a writer without a connection has no slow client
	return b
}

// Read reads on; the error is os.ErrDeadlineExceeded if the client took too long.
func (b *Body) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.ended = b.ended || err != nil
	if err != nil && !os.IsTimeout(err) && b.proto < 2 {
		_ = b.set(time.Time{})
	}
	return n, err
}

// cutBody ends the wait for a body that comes slowly.
func cutBody(body io.ReadCloser) {
	if b, ok := body.(*Body); ok {
		_ = b.set(time.Unix(1, 0))
	}
}

// Wait bounds how long the rest of the body is waited for.
func (b *Body) Wait(d time.Duration) {
	_ = b.set(time.Now().Add(d)) // a writer without a connection has no slow client
}

// Hurry bounds how long net/http reads what the handler has left, as it does before it answers. It is called when the
// handler has returned.
func (b *Body) Hurry() {
	if !b.ended {
		_ = b.set(time.Now().Add(HeadPatience))
	}
}

// Close closes the body.
func (b *Body) Close() error { return b.body.Close() }
