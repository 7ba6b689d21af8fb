package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

const (
	// MaxIntake is the limit for the bytes of a pool's bodies, each from its first byte to the end of the request,
	// unless the pool has a lower limit.
	MaxIntake = 256 << 20
	// bodyCost is what a request counts for while its body is read, even if no byte arrives: its goroutine and buffers.
	bodyCost = 32 << 10
	// firstPiece is the size of a body's first buffer, in bytes. It is doubled when it is full.
	firstPiece = 16 << 10
)

// Intake reads the bodies of requests before these take a seat, so a slow client takes no seat from others. Requests
// that are being served are not cut off.
type Intake struct{ pool.Pools }

// Take reads the body of a user's request, so that ReadBody returns it at once. The caller calls release when the
// request has ended. With unused, the body is not read. Errors: 413 for a body that is too large, 429 if the user's
// bodies take too much memory, 504 for a body that arrives too slowly.
func (i *Intake) Take(
	r *http.Request, user authentication.User, unused bool,
) (*http.Request, *pool.Holding, func(), error) {
	ended := func() {}
	if !HasBody(r) {
		return r, nil, ended, nil
	}
	if r.ContentLength > codec.MaxBody {
		return r, nil, ended, codec.TooLarge()
	}
	Of(r).EndTurn()
	ctx, cancel := context.WithCancelCause(r.Context())
	body := r.Body
	held := i.Of(user).Begin(user.Name, func(reading bool) {
		cancel(status.ErrBusy)
		if reading {
			cutBody(body)
		}
	})
	release := func() {
		held.End()
		cancel(nil)
	}
	data, err := readBounded(r.Body, r.ContentLength, held.Take)
	held.Read()
	switch {
	case err != nil && context.Cause(ctx) == status.ErrBusy:
		err = status.ErrBusy
		fallthrough
	case err != nil:
		release()
		return r, nil, ended, err
	case unused:
		release()
		r.Body = http.NoBody
		return r, nil, ended, nil
	}
	r = r.WithContext(ctx)
	r.Body = &readAlready{ReadCloser: body, data: data}
	return r, held, release, nil
}

// HasBody reports whether the request may have a body. Over HTTP/2 there is always a reader, which ends at once if the
// headers end the stream. A body may also come with a Content-Length of 0 or with an invalid one, which net/http takes
// for 0.
func HasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && (r.ContentLength != 0 || r.Header["Content-Length"] != nil)
}

// readBounded reads a body of at most maxBody bytes. It calls grow before it allocates, as the bytes arrive: the
// Content-Length of a request counts for nothing.
func readBounded(from io.Reader, length int64, grow func(n int) bool) ([]byte, error) {
	first := firstPiece
	if length >= 0 {
		first = int(min(length+1, firstPiece)) // one byte more to detect the end
	}
	if !grow(bodyCost + first) {
		return nil, status.ErrBusy
	}
	data := make([]byte, 0, first)
	for {
		n, err := from.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > codec.MaxBody:
			return nil, codec.TooLarge()
		case err == io.EOF:
			return data, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, status.ErrSlowBody
		case err != nil:
			return nil, status.BadRequest("reading the body: %v", err)
		case len(data) < cap(data):
			continue
		}
		more := cap(data)
		if length > int64(len(data)) { // after half of the promised length the rest is allocated at once
			more = int(min(int64(more), length+1-int64(len(data))))
		}
		if !grow(more) {
			return nil, status.ErrBusy
		}
		data = append(make([]byte, 0, len(data)+more), data...)
	}
}

// readAlready is a body that intake has read.
type readAlready struct {
	io.ReadCloser
	data []byte
}

// ReadBody returns the whole body that intake has read, or the error of reading it.
func ReadBody(r *http.Request) ([]byte, error) {
	switch b := r.Body.(type) {
	case nil:
		return nil, nil
	case *readAlready:
		return b.data, nil
	}
	return readBounded(r.Body, r.ContentLength, func(int) bool { return true })
}

// BodyOf returns the body of a request; false if intake has not read it.
func BodyOf(r *http.Request) ([]byte, bool) {
	b, ok := r.Body.(*readAlready)
	if !ok {
		return nil, false
	}
	return b.data, true
}
