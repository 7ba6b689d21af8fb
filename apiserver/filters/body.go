package filters

import (
	"io"
	"net/http"
	"time"
)

const (
	// restTime and restBytes limit the time and the bytes for reading the rest of a body that no handler has read.
	restTime, restBytes = time.Second, 64 << 10
)

// Body limits the size of request bodies, and the time until they have arrived.
func Body(maxBytes int64, limit time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !hasBody(r) {
				next.ServeHTTP(w, r)
				return
			}
			b := &timedBody{
				http.MaxBytesReader(w, r.Body, maxBytes), r.Body, r.ProtoMajor, http.NewResponseController(w), false,
			}
			b.setDeadline(limit)
			r.Body = b
			next.ServeHTTP(w, r)
			b.discard(r)
		})
	}
}

// hasBody reports whether the request may have a body. Over HTTP/2 there is always a reader. It ends immediately if the
// headers end the stream. A body may also follow a Content-Length of 0, or an invalid one, which net/http replaces by
// 0.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && (r.ContentLength != 0 || r.Header["Content-Length"] != nil)
}

// timedBody removes the deadline of an HTTP/1 connection at the end of the body. From then on, net/http reads to detect
// that the client disconnects, and would mistake the deadline for that. Over HTTP/2, the deadline is for the stream
// only.
type timedBody struct {
	io.ReadCloser
	// whole is the body without a limit of its size.
	whole   io.ReadCloser
	proto   int
	control *http.ResponseController
	// ended is set by the first error, which may be io.EOF.
	ended bool
}

// setDeadline limits the time of reads. 0 is no limit. It ignores the error of a writer without a connection.
func (b *timedBody) setDeadline(limit time.Duration) {
	if limit == 0 {
		_ = b.control.SetReadDeadline(time.Time{})
		return
	}
	_ = b.control.SetReadDeadline(time.Now().Add(limit))
}

// Stream removes the limits, because the body is forwarded to another server and not kept in memory.
func (b *timedBody) Stream() io.ReadCloser {
	b.setDeadline(0)
	b.ReadCloser = b.whole
	return b
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	if err == io.EOF && b.proto < 2 {
		b.setDeadline(0)
	}
	return n, err
}

// discard reads a part of the body if no handler has read it all. Over HTTP/1, net/http does this before it sends the
// response. Over HTTP/2, a client that is still sending when the connection ends may lose the response.
func (b *timedBody) discard(r *http.Request) {
	if b.ended {
		return
	}
	b.setDeadline(restTime)
	if b.proto == 2 && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, b, restBytes) // the response does not depend on it
	}
}
