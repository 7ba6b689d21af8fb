package apiserver

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// errCutOff ends an answer. No client sees it.
var errCutOff = errors.New("the answer is cut off, as its client leaves too much unread")

// backlog is what one answer keeps in memory while its client doesn't read: what is being written, and stored objects
// that may have been replaced since. It counts in a pool from the moment that a write has waited for patienceTime until
// that write is over. The handler's goroutine owns it, but for late, which a timer's runs, and cutOff.
type backlog struct {
	// pool is what it counts in, for user; nil for answers that don't count.
	pool *pool
	user string
	// kept is how many bytes of stored objects the answer keeps, besides what is being written.
	kept int64
	// cancel ends a watch that waits for events; nil for other requests.
	cancel func()
	// hangUp ends a write that waits.
	hangUp func()

	// waits is how many bytes the write that goes on keeps, and counted how many of the holding's are for such a write.
	waits, counted atomic.Int64
	cut            atomic.Bool

	mu   sync.Mutex // held by who changes counted or begins the holding
	held *holding
}

// countIn says who the answer counts for. It must be called before the answer begins.
func (w *recorder) countIn(p *pool, user string) {
	if w == nil {
		return
	}
	w.backlog.pool, w.backlog.user = p, user
	c := http.NewResponseController(w.ResponseWriter)
	w.backlog.hangUp = func() { _ = c.SetWriteDeadline(time.Unix(1, 0)) } // a writer without a connection isn't slow
}

// keep says how many bytes of stored objects the answer keeps from now on.
func (w *recorder) keep(bytes int64) {
	if w != nil {
		w.backlog.kept = bytes
	}
}

// hold counts bytes until the end of the request, however its client reads. It reports false if there is no room.
func (b *backlog) hold(bytes int64) bool {
	if b.pool == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holding().take(int(bytes))
}

// holdWatch counts what a watch takes as long as it is open. cancel ends it.
func (q *request) holdWatch(cancel func()) error {
	rec := recorderOf(q.r)
	if rec == nil {
		return nil
	}
	rec.backlog.cancel = cancel
	if !rec.backlog.hold(standing(q.r)) {
		return status.ErrBusy
	}
	return nil
}

// holding begins the holding when it is needed first. mu is held.
func (b *backlog) holding() *holding {
	if b.held == nil {
		b.held = b.pool.begin(b.user, func(bool) { b.cutOff() })
	}
	return b.held
}

// begin says that a write begins.
func (b *backlog) begin(bytes int) { b.waits.Store(b.kept + int64(bytes)) }

// late counts what the write keeps that goes on, if one does. Without room for it the answer is cut off.
func (b *backlog) late() {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.waits.Load()
	if b.pool == nil || n == 0 || b.counted.Load() > 0 {
		return
	}
	if !b.holding().take(int(n)) {
		b.cutOff()
		return
	}
	b.counted.Store(n)
}

// end says that a write is over; inTime, that late hasn't been called for it. If it is called all the same, by a timer
// that fired for an earlier write, the end of the next write takes that back.
func (b *backlog) end(inTime bool) {
	b.waits.Store(0)
	if inTime && b.counted.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.counted.Swap(0); n > 0 {
		b.held.give(n)
	}
}

// cutOff ends the answer. The pool's lock may be held.
func (b *backlog) cutOff() {
	if !b.cut.CompareAndSwap(false, true) {
		return
	}
	b.pool.cuts.Add(1)
	b.hangUp()
	if b.cancel != nil {
		b.cancel()
	}
}

func (b *backlog) isCut() bool { return b.cut.Load() }

// close gives everything back. From then on the answer isn't cut off any more.
func (b *backlog) close() {
	b.waits.Store(0)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held != nil {
		b.held.end()
	}
	b.pool = nil
}
