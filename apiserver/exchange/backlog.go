package exchange

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// sharedFrom is from how many bytes an object, or what is written, counts once for all answers that keep it.
const sharedFrom = 16 << 10

// written is the key of what several answers write: bytes in the same place are the same.
type written struct {
	first *byte
	n     int
}

// ErrCutOff ends an answer. No client sees it.
var ErrCutOff = errors.New("the answer is cut off, as its client leaves too much unread")

// backlog is what one answer keeps in memory while its client doesn't read: what is being written, and stored objects
// that may have been replaced since. It counts in a pool from the moment that a write has waited for patienceTime until
// that write is over. The handler's goroutine owns it, but for late, which a timer's runs, and cutOff.
type backlog struct {
	// pool is what it counts in, for user; nil for answers that don't count.
	pool *pool.Pool
	user string
	// kept is how many bytes of stored objects the answer keeps, besides what is being written, events whose objects
	// they are, if they are events'. Only the handler changes them, with mu held.
	kept   int64
	events []*cache.Event
	// cancel ends a watch that waits for events; nil for other requests.
	cancel func()
	// hangUp ends a write that waits.
	hangUp func()

	cut atomic.Bool

	mu   sync.Mutex // guards what follows, and pool and what is kept while a write goes on
	held *pool.Holding
	// writing says that a write goes on, and piece what it keeps.
	writing bool
	piece   []byte
	// counts says that the write counts, with so many bytes that are not shared.
	counts  bool
	counted int64
}

// CountIn says who the answer counts for, the last time before the answer begins.
func (w *Recorder) CountIn(p *pool.Pool, user string) {
	if w == nil {
		return
	}
	if w.backlog.pool, w.backlog.user = p, user; w.backlog.hangUp != nil {
		return
	}
	c := http.NewResponseController(w.ResponseWriter)
	w.backlog.hangUp = func() { _ = c.SetWriteDeadline(time.Unix(1, 0)) } // a writer without a connection isn't slow
}

// Keep says how many bytes of stored objects the answer keeps from now on.
func (w *Recorder) Keep(bytes int64) {
	if w != nil {
		w.backlog.keep(bytes, nil)
	}
}

// KeepEvents says that the answer keeps the objects of events from now on.
func (w *Recorder) KeepEvents(events []*cache.Event) {
	if w != nil {
		w.backlog.keep(keptBy(events), events)
	}
}

func (b *backlog) keep(bytes int64, events []*cache.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept, b.events = bytes, events
}

// IsCut reports whether the answer has been cut off.
func (w *Recorder) IsCut() bool { return w.backlog.isCut() }

// HoldWatch counts what a watch takes as long as it is open, with its URL and headers. cancel ends it. It reports false
// if there is no room.
func (w *Recorder) HoldWatch(bytes int64, cancel func()) bool {
	w.EndHead()
	w.backlog.cancel = cancel
	return w.backlog.hold(bytes)
}

// hold counts bytes until the end of the request, however its client reads. It reports false if there is no room.
func (b *backlog) hold(bytes int64) bool {
	if b.pool == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holding().Take(int(bytes))
}

// holding begins the holding when it is needed first. mu is held.
func (b *backlog) holding() *pool.Holding {
	if b.held == nil {
		b.held = b.pool.Begin(b.user, func(bool) { b.cutOff() })
	}
	return b.held
}

// begin says that a write begins, and what it keeps.
func (b *backlog) begin(piece []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing, b.piece = true, piece
}

// late counts what the write keeps that goes on, if one does. Without room for it the answer is cut off.
func (b *backlog) late() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pool == nil || !b.writing || b.counts || b.kept+int64(len(b.piece)) == 0 {
		return
	}
	b.counts = true
	if !b.count(b.holding()) {
		b.cutOff()
	}
}

// count counts what the write keeps, what may be shared once for all answers. mu is held.
func (b *backlog) count(held *pool.Holding) bool {
	own := b.kept
	for _, e := range b.events {
		for _, o := range []*storage.Object{e.Object, e.Prev} {
			if o == nil || len(o.JSON) < sharedFrom {
				continue
			}
			own -= int64(len(o.JSON))
			if !held.Share(o, int64(len(o.JSON))) {
				return false
			}
		}
	}
	if n := len(b.piece); n < sharedFrom {
		own += int64(n)
	} else if !held.Share(written{&b.piece[0], n}, int64(n)) {
		return false
	}
	if !held.Take(int(own)) {
		return false
	}
	b.counted = own
	return true
}

// end says that a write is over. A timer that fired for an earlier write may have counted it: that is taken back, too.
func (b *backlog) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing, b.piece = false, nil
	if b.counts {
		b.held.Unshare()
		b.held.Give(b.counted)
		b.counts, b.counted = false, 0
	}
}

// cutOff ends the answer. The pool's lock may be held.
func (b *backlog) cutOff() {
	if !b.cut.CompareAndSwap(false, true) {
		return
	}
	b.pool.Cut()
	b.hangUp()
	if b.cancel != nil {
		b.cancel()
	}
}

func (b *backlog) isCut() bool { return b.cut.Load() }

// close gives everything back. From then on the answer isn't cut off any more.
func (b *backlog) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing = false
	if b.held != nil {
		b.held.End()
	}
	b.pool = nil
}

// keptBy is the size of the objects that events keep.
func keptBy(events []*cache.Event) (n int64) {
	for _, e := range events {
		n += int64(len(e.Object.JSON))
		if e.Prev != nil {
			n += int64(len(e.Prev.JSON))
		}
	}
	return n
}
