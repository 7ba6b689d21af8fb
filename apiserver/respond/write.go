package respond

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/render"
)

// buffers are reused by answers that are written in many pieces.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 32<<10) }}

// Stream returns the writer for an answer of size bytes, before its head is sent. finish must be called unless writing
// has failed.
func Stream(w http.ResponseWriter, r *http.Request, size int) (out io.Writer, finish func() error) {
	if size < render.GzipFrom {
		return sized(w, size)
	}
	release := exchange.Cork(r)
	if !render.AcceptsGzip(r) {
		out, flush := sized(w, size)
		return out, func() error {
			defer release()
			return flush()
		}
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	z := compressors.Get().(*gzip.Writer)
	z.Reset(w)
	return &yielding{Writer: z}, func() error {
		defer release()
		err := z.Close()
		z.Reset(nil)
		compressors.Put(z)
		return err
	}
}

// List sends a list as it is written or, if it is long and the client accepts that, compressed. An error says that it
// was interrupted.
func List(w http.ResponseWriter, r *http.Request, l *render.List) error {
	if l.Size() < render.GzipFrom || !render.AcceptsGzip(r) || !l.Compresses() {
		out, finish := Stream(w, r, l.Size())
		w.WriteHeader(http.StatusOK)
		if err := l.Write(out); err != nil {
			return err
		}
		return finish()
	}
	defer exchange.Cork(r)()
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	w.WriteHeader(http.StatusOK)
	out := buffers.Get().(*bufio.Writer)
	out.Reset(w)
	err := l.Compress(out)
	if err == nil {
		err = out.Flush()
	}
	out.Reset(nil)
	buffers.Put(out)
	return err
}

// compressors are reused: each takes more than a megabyte.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}}

// yieldEvery is how many bytes are compressed before others have a turn: some tenths of a millisecond.
const yieldEvery = 64 << 10

// yielding lets short requests go first while a long answer is compressed.
type yielding struct {
	io.Writer
	since int
}

func (y *yielding) Write(b []byte) (int, error) {
	if y.since += len(b); y.since >= yieldEvery {
		y.since = 0
		runtime.Gosched()
	}
	return y.Writer.Write(b)
}

// sized sets Content-Length: else net/http sends chunks, each of which begins and ends with a few bytes that take a
// record of TLS and a system call more.
func sized(w http.ResponseWriter, size int) (out io.Writer, flush func() error) {
	w.Header().Set("Content-Length", strconv.Itoa(size))
	b := buffers.Get().(*bufio.Writer)
	b.Reset(w)
	return b, func() error {
		err := b.Flush()
		b.Reset(nil)
		buffers.Put(b)
		return err
	}
}

// Body sends a whole body.
func Body(w http.ResponseWriter, r *http.Request, code int, data []byte) {
	if len(data) < render.GzipFrom {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.WriteHeader(code)
		_, _ = w.Write(data) // if that fails, the client is gone
		return
	}
	out, finish := Stream(w, r, len(data))
	w.WriteHeader(code)
	if _, err := out.Write(data); err == nil {
		_ = finish() // as above
	}
}
