package apiserver

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
)

const (
	// maxIntake bounds the bytes of all requests' bodies, from their first byte to the end of the request.
	maxIntake = 256 << 20
	// bodyCost is what a request whose body is being read counts for, however slowly it comes: its goroutine and buffers.
	bodyCost = 32 << 10
	// firstPiece is how many bytes a body's memory has at first; then it doubles.
	firstPiece = 16 << 10
)

// intake holds the bodies of requests. They are read before a request takes a seat, so that a slow client keeps no one
// out. A user's bodies may take as much as is free after them: alone half of it, and each further flood half of what the
// others have left.
type intake struct {
	mu   sync.Mutex // guards what follows
	held int64
	by   map[string]int64
}

// take counts n more bytes of a user's, and reports false if they would be too many.
func (i *intake) take(user string, n int64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.by[user]+n > maxIntake-i.held-n {
		return false
	}
	if i.by == nil {
		i.by = map[string]int64{}
	}
	i.held += n
	i.by[user] += n
	return true
}

func (i *intake) give(user string, n int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.held -= n
	if i.by[user] -= n; i.by[user] == 0 {
		delete(i.by, user)
	}
}

// read reads a request's body, so that readBody returns it at once; release is to be called when the request has ended.
// Errors: 413 for a body that is too large, 429 if the user's bodies are too many, 504 for one that is too slow.
func (i *intake) read(user string, r *http.Request) (release func(), err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}, nil
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	held := int64(0)
	release = func() { i.give(user, held) }
	grow := func(n int) bool {
		ok := i.take(user, int64(n))
		if ok {
			held += int64(n)
		}
		return ok
	}
	data, err := gather(r.Body, r.ContentLength, grow)
	if err != nil {
		release()
		return nil, err
	}
	r.Body = &readAlready{ReadCloser: r.Body, data: data}
	return release, nil
}

// gather reads a body of at most maxBody bytes into memory that grow is asked for as the bytes come: what a client only
// says that it will send counts for nothing.
func gather(from io.Reader, length int64, grow func(n int) bool) ([]byte, error) {
	first := firstPiece
	if length >= 0 {
		first = int(min(length+1, firstPiece)) // one more to find the end
	}
	if !grow(bodyCost + first) {
		return nil, errBusy
	}
	data := make([]byte, 0, first)
	for {
		n, err := from.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case len(data) > maxBody:
			return nil, tooLarge()
		case err == io.EOF:
			return data, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, errSlowBody
		case err != nil:
			return nil, badRequest("reading the body: %v", err)
		case len(data) < cap(data):
			continue
		}
		more := cap(data)
		if length > int64(len(data)) { // half of what was promised has come: the rest is believed
			more = int(min(int64(more), length+1-int64(len(data))))
		}
		if !grow(more) {
			return nil, errBusy
		}
		data = append(make([]byte, 0, len(data)+more), data...)
	}
}

// readAlready is a body that intake has read.
type readAlready struct {
	io.ReadCloser
	data []byte
}
