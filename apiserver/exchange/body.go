package exchange

import (
	"io"
	"net/http"
	"os"
	"time"
)

// HeadPatience is how long net/http may wait for the rest of a body after the response.
const HeadPatience = time.Second

// Body limits how long a client may take to send its body, including the rest that net/http reads before it responds if
// the handler has not. Over HTTP/1 the deadline is removed at the end: while a handler runs, net/http reads on to
// notice that the client has disconnected, and would take a missed deadline for that. Over HTTP/2 the deadline is the
// stream's.
type Body struct {
	body  io.ReadCloser
	proto int
	// set sets the connection's read deadline.
	set func(time.Time) error
	// ended says that the body has been read to its end.
	ended bool
}

// NewBody sets the read deadline of a request's body.
func NewBody(w http.ResponseWriter, r *http.Request, deadline time.Time) *Body {
	b := &Body{body: r.Body, proto: r.ProtoMajor, set: http.NewResponseController(w).SetReadDeadline}
	_ = b.set(deadline) // a writer without a connection has no slow client
	return b
}

// Read reads from the body. The error is os.ErrDeadlineExceeded if the client was too slow.
func (b *Body) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.ended = b.ended || err != nil
	if err != nil && !os.IsTimeout(err) && b.proto < 2 {
		_ = b.set(time.Time{})
	}
	return n, err
}

// cutBody interrupts a read of a body that arrives too slowly.
func cutBody(body io.ReadCloser) {
	if b, ok := body.(*Body); ok {
		_ = b.set(time.Unix(1, 0))
	}
}

// Wait limits how long the rest of the body may take.
func (b *Body) Wait(d time.Duration) {
	_ = b.set(time.Now().Add(d)) // a writer without a connection has no slow client
}

// Hurry limits how long net/http reads the rest of the body before it sends the response. It is called when the handler
// has returned.
func (b *Body) Hurry() {
	if !b.ended {
		_ = b.set(time.Now().Add(HeadPatience))
	}
}

// Close closes the body.
func (b *Body) Close() error { return b.body.Close() }
