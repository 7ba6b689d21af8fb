package apiserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/auth"
)

const (
	// maxIntake bounds the bytes of a pool's bodies, from their first byte to the end of the request, unless the pool
	// has a lower limit.
	maxIntake = 256 << 20
	// bodyCost is what a request whose body is being read counts for, however slowly it comes: its goroutine and buffers.
	bodyCost = 32 << 10
	// firstPiece is how many bytes a body's memory has at first; then it doubles.
	firstPiece = 16 << 10
)

// intake holds the bodies of requests. They are read before a request takes a seat, so that a slow client keeps no one
// out. When there is no room, requests of the user that holds the most are cut off, those that are not being served
// yet: so a flood, by however many users, ends at its own cost, and a request of a user that holds little finds room.
// Requests of system:masters have as much room of their own.
type intake struct {
	common, masters pool
}

// pool is the bytes of some users' bodies.
type pool struct {
	// limit is maxIntake, or less; 0 means maxIntake.
	limit int64

	mu   sync.Mutex // guards what follows, and the requests' bytes
	held int64
	by   map[string]*holder
}

// holder is what one user has, with the requests that may be cut off.
type holder struct {
	bytes   int64
	pending map[*intakeRequest]struct{}
}

// intakeRequest is a request whose body is held.
type intakeRequest struct {
	pool *pool
	user string
	// bytes is 0 after the end, and after it was cut off.
	bytes int64
	ended bool
	// reading says that the body is not read yet.
	reading bool
	// cut ends the reading of the body, or the wait for a seat. It is called with mu held, so never after the end.
	cut func(reading bool)
}

// holderOf is who bodies are counted for. Service accounts are counted by namespace: who may use one may use all.
func holderOf(user string) string {
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(account, ":")
		return "system:serviceaccount:" + namespace
	}
	return user
}

// begin registers a request. cut is called once at most, while the pool's lock is held.
func (p *pool) begin(user string, cut func(reading bool)) *intakeRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]*holder{}
	}
	r := &intakeRequest{pool: p, user: holderOf(user), reading: true, cut: cut}
	h := p.by[r.user]
	if h == nil {
		h = &holder{pending: map[*intakeRequest]struct{}{}}
		p.by[r.user] = h
	}
	h.pending[r] = struct{}{}
	return r
}

// take counts n more bytes, and reports false if they would be too many, or the request was cut off.
func (r *intakeRequest) take(n int) bool {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.by[r.user]
	for !r.ended && p.held+int64(n) > p.most() {
		victim := p.largest(h.bytes + int64(n))
		if victim == nil {
			return false
		}
		victim.cut(victim.reading)
		victim.drop()
	}
	if r.ended {
		return false
	}
	p.held += int64(n)
	h.bytes += int64(n)
	r.bytes += int64(n)
	return true
}

// most is how many bytes the pool holds at most.
func (p *pool) most() int64 {
	if p.limit == 0 {
		return maxIntake
	}
	return p.limit
}

// largest is the largest request that may be cut off, of the user that holds the most, if that is more than so much.
func (p *pool) largest(most int64) (found *intakeRequest) {
	for _, h := range p.by {
		if h.bytes <= most || len(h.pending) == 0 {
			continue
		}
		most = h.bytes
		found = nil
		for r := range h.pending {
			if found == nil || r.bytes > found.bytes {
				found = r
			}
		}
	}
	return found
}

// read says that the body is read.
func (r *intakeRequest) read() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.reading = false
}

// serve says that the request has its seat: it isn't cut off any more. False: it was.
func (r *intakeRequest) serve() bool {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if r.ended {
		return false
	}
	delete(r.pool.by[r.user].pending, r)
	return true
}

// end gives the bytes back.
func (r *intakeRequest) end() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.drop()
}

// drop is end while mu is held. It may be called twice.
func (r *intakeRequest) drop() {
	if r.ended {
		return
	}
	r.ended = true
	h := r.pool.by[r.user]
	r.pool.held -= r.bytes
	h.bytes -= r.bytes
	r.bytes = 0
	delete(h.pending, r)
	if h.bytes == 0 && len(h.pending) == 0 {
		delete(r.pool.by, r.user)
	}
}

// read reads a request's body, so that readBody returns it at once; release is to be called when the request has ended.
// Errors: 413 for a body that is too large, 429 if the user's bodies are too many, 504 for one that is too slow.
func (i *intake) read(q *request) (release func(), err error) {
	r := q.r
	if r.Body == nil || r.Body == http.NoBody {
		return func() {}, nil
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	p := &i.common
	if slices.Contains(q.user.Groups, auth.GroupMasters) {
		p = &i.masters
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	timed, _ := r.Body.(*timedBody)
	held := p.begin(q.user.Name, func(reading bool) {
		cancel(errBusy)
		if reading && timed != nil {
			_ = timed.set(time.Unix(1, 0)) // a body that comes slowly is waited for no longer
		}
	})
	release = func() {
		held.end()
		cancel(nil)
	}
	data, err := gather(r.Body, r.ContentLength, held.take)
	held.read()
	switch {
	case err != nil && context.Cause(ctx) == errBusy:
		err = errBusy
		fallthrough
	case err != nil:
		release()
		return nil, err
	case q.verb == "get" || q.verb == "list" || q.verb == "watch": // of no use, and a watch would hold it
		release()
		r.Body = http.NoBody
		return func() {}, nil
	}
	q.held = held
	q.r = r.WithContext(ctx)
	q.r.Body = &readAlready{ReadCloser: r.Body, data: data}
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
			if len(data) > firstPiece {
				runtime.Gosched() // short requests go first
			}
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
