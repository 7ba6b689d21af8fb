package exchange

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// sharedFrom is the size in bytes from which an object, or a piece that is written, counts once for all responses that
// hold it.
const sharedFrom = 16 << 10

// written is the identity of the bytes that several responses write: the same address is the same content.
type written struct {
	first *byte
	n     int
}

// ErrCutOff ends a response. No client sees it.
var ErrCutOff = errors.New("the response was cut off because its client left too much unread")

// backlog is the memory that one response holds while its client does not read: the piece that is being written, and
// stored objects that may have been replaced since. It counts in a pool once a write has waited for patienceTime, until
// that write ends. The handler's goroutine owns it, except for late, which runs in a timer's goroutine, and cutOff.
type backlog struct {
	// pool is the pool in which it counts, for user; nil for responses that don't count.
	pool *pool.Pool
	user string
	// kept is the size of the stored objects that the response holds besides the piece that is being written. events
	// are the events that hold them, if there are any. Only the handler changes them, with mu held.
	kept   int64
	events []*cache.Event
	// list are listed objects that it holds, and that other responses with the same ones share. known is what they are
	// once a write was late: most responses never need it.
	list  []*storage.Object
	known *listed
	// cancel ends a watch that waits for events; nil for other requests.
	cancel func()
	// hangUp ends a blocked write.
	hangUp func()

	cut atomic.Bool

	mu   sync.Mutex // guards what follows; during a write also pool, kept, events and list
	held *pool.Holding
	// writing says that a write is in progress; piece is what it writes.
	writing bool
	piece   []byte
	// counts says that the write counts. The number are its bytes that are not shared.
	counts  bool
	counted int64
}

// CountIn sets the pool and the user for which the response counts. The last call before the response begins is valid.
func (w *Recorder) CountIn(p *pool.Pool, user string) {
	if w == nil {
		return
	}
	if w.backlog.pool, w.backlog.user = p, user; w.backlog.hangUp != nil {
		return
	}
	w.backlog.hangUp = w.hangUp
}

// hangUp has the client's writes fail. A writer without a connection never blocks.
func (w *Recorder) hangUp() { _ = w.control.SetWriteDeadline(time.Unix(1, 0)) }

// Keep sets how many bytes of stored objects the response holds from now on.
func (w *Recorder) Keep(bytes int64) {
	if w != nil {
		w.backlog.keep(bytes, nil)
	}
}

// KeepEvents sets the events whose objects the response holds from now on.
func (w *Recorder) KeepEvents(events []*cache.Event) {
	if w != nil {
		w.backlog.keep(keptBy(events), events)
	}
}

// KeepList sets the listed objects that the response holds from now on, and how many bytes besides.
func (w *Recorder) KeepList(objs []*storage.Object, bytes int64) {
	if w == nil {
		return
	}
	w.backlog.mu.Lock()
	defer w.backlog.mu.Unlock()
	w.backlog.kept, w.backlog.list, w.backlog.known = bytes, objs, nil
}

// listed is the identity of listed objects, and their size: there is one of a key and a revision in memory, or equal
// ones.
type listed struct {
	first, last *storage.Object
	n           int
	revisions   uint64
	size        int64
}

// listSeed is that of the hashes of revisions.
var listSeed = maphash.MakeSeed()

// listOf returns the identity of objects, of which there is at least one.
func listOf(objs []*storage.Object) *listed {
	l := &listed{first: objs[0], last: objs[len(objs)-1], n: len(objs)}
	var h maphash.Hash
	h.SetSeed(listSeed)
	var revision [8]byte
	for _, o := range objs {
		binary.LittleEndian.PutUint64(revision[:], uint64(o.Revision))
		_, _ = h.Write(revision[:]) // it never fails
		l.size += int64(len(o.JSON))
	}
	l.revisions = h.Sum64()
	return l
}

func (b *backlog) keep(bytes int64, events []*cache.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept, b.events, b.list, b.known = bytes, events, nil, nil
}

// IsCut reports whether the answer has been cut off.
func (w *Recorder) IsCut() bool { return w.backlog.isCut() }

// HoldWatch counts the memory of a watch with its URL and headers until the watch ends. cancel ends the watch. It
// returns false if the pool is full.
func (w *Recorder) HoldWatch(bytes int64, cancel func()) bool {
	w.EndHead()
	w.backlog.cancel = cancel
	return w.backlog.hold(bytes)
}

// hold counts bytes until the end of the request, even if its client reads. It returns false if the pool is full.
func (b *backlog) hold(bytes int64) bool {
	if b.pool == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holding().Take(int(bytes))
}

// holding creates the pool's record when it is first needed. mu is held.
func (b *backlog) holding() *pool.Holding {
	if b.held == nil {
		b.held = b.pool.Begin(b.user, func(bool) { b.cutOff() })
	}
	return b.held
}

// begin records that a write begins, and what it writes.
func (b *backlog) begin(piece []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing, b.piece = true, piece
}

// late counts a write that is still in progress. If the pool is full, the response is cut off.
func (b *backlog) late() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pool == nil || !b.writing || b.counts || b.kept+int64(len(b.list)+len(b.piece)) == 0 {
		return
	}
	b.counts = true
	if !b.count(b.holding()) {
		b.cutOff()
	}
}

// count counts what the write holds; shared memory once for all responses. mu is held.
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
	if len(b.list) > 0 {
		if b.known == nil {
			b.known = listOf(b.list)
		}
		if n := b.known.size; n < sharedFrom {
			own += n
		} else if !held.Share(*b.known, n) {
			return false
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

// end records that a write has ended. A timer that fired late, for an earlier write, may have counted this one: that is
// undone, too.
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

// cutOff ends the response. The pool's lock may be held.
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

// close releases everything. After it the response is not cut off any more.
func (b *backlog) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing, b.list = false, nil
	if b.held != nil {
		b.held.End()
	}
	b.pool = nil
}

// keptBy is the size of the objects that events hold.
func keptBy(events []*cache.Event) (n int64) {
	for _, e := range events {
		n += int64(len(e.Object.JSON))
		if e.Prev != nil {
			n += int64(len(e.Prev.JSON))
		}
	}
	return n
}
