package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/kubecascade/kubecascade/apiserver/codec"
)

// buffers are reused for responses that are written in many pieces.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 32<<10) }}

// compressors are reused, because each takes more than a megabyte.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}}

// Compressed sets the headers of a compressed response.
func Compressed(h http.Header) {
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
}

// Gzip returns one member of a gzip stream with all pieces. A client can read it before the next member arrives.
func Gzip(pieces ...[]byte) ([]byte, error) {
	var out bytes.Buffer
	z := compressors.Get().(*gzip.Writer)
	defer func() {
		z.Reset(nil)
		compressors.Put(z)
	}()
	z.Reset(&out)
	for _, piece := range pieces {
		if _, err := z.Write(piece); err != nil {
			return nil, err
		}
	}
	if err := z.Flush(); err != nil { // otherwise compress/gzip reads the next header before it returns the last block
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

// Stream returns the writer for a response of size bytes. It must be called before the headers are sent. The caller
// must call finish, unless writing has failed.
func Stream(w http.ResponseWriter, r *http.Request, size int) (out io.Writer, finish func() error) {
	if size < GzipFrom || !Compresses(r) {
		return sized(w, size)
	}
	Compressed(w.Header())
	z := compressors.Get().(*gzip.Writer)
	z.Reset(w)
	return z, func() error {
		err := z.Close()
		z.Reset(nil)
		compressors.Put(z)
		return err
	}
}

// SendList writes a list. An error means that the response is not complete.
func SendList(w http.ResponseWriter, r *http.Request, l *List) error {
	out, finish := Stream(w, r, l.Size())
	w.WriteHeader(http.StatusOK)
	if err := l.Write(out); err != nil {
		return err
	}
	return finish()
}

// sized sets Content-Length. Otherwise net/http sends chunks: the few bytes before and after each chunk would take
// another TLS record and system call.
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
	if len(data) < GzipFrom {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.WriteHeader(code)
		_, _ = w.Write(data) // an error means that the client has disconnected
		return
	}
	out, finish := Stream(w, r, len(data))
	w.WriteHeader(code)
	if _, err := out.Write(data); err == nil {
		_ = finish() // as above
	}
}

// JSON sends a JSON document, or the Status of an error.
func JSON(log *slog.Logger, w http.ResponseWriter, r *http.Request, document []byte, err error) {
	if err != nil {
		Error(log, w, r, err)
		return
	}
	w.Header().Set("Content-Type", codec.MediaJSON)
	Body(w, r, http.StatusOK, append(document, '\n'))
}

// Answer returns a handler that sends the result of answer as JSON, or the Status of its error.
func Answer(log *slog.Logger, answer func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := answer(r)
		var document []byte
		if err == nil {
			document, err = json.Marshal(value)
		}
		JSON(log, w, r, document, err)
	}
}
