package turns

import (
	"errors"
	"sync"
	"sync/atomic"
)

// The errors of Begin.
var (
	// ErrFull says that too many turns of the holder wait already.
	ErrFull = errors.New("too many wait for their turn")
	// ErrGone says that the waiter has given up.
	ErrGone = errors.New("the wait for a turn was given up")
)

// Rank is the kind of work that a turn is for.
type Rank int

// The ranks.
const (
	// Now is for work that is already here.
	Now Rank = iota
	// Later is for work that brings more work.
	Later
	ranks
)

// Few is up to how many turns of rank Now of a holder may wait while its turns of rank Later still begin.
const Few = 8

// maxSpare is how many waiters are kept for reuse.
const maxSpare = 4096

// Turns has places that holders of type K use in turn.
type Turns[K comparable] struct {
	mu   sync.Mutex // guards what follows, and all waiters and holders
	free [ranks]int
	most int
	// waits is how many turns of rank Now wait.
	waits atomic.Int64
	by    map[K]*holder[K]
	// rings have the holders whose turns of a rank may begin.
	rings [ranks]ring[K]
	// spare is the list of waiters for reuse; spares is its length.
	spare  *waiter
	spares int
}

// New returns a Turns with places for each rank, and a limit for how many turns of rank Now may wait; 0 is no limit.
func New[K comparable](now, later, waiting int) *Turns[K] {
	return &Turns[K]{free: [ranks]int{Now: now, Later: later}, most: waiting, by: map[K]*holder[K]{}}
}

// Try begins a turn of rank Now if a place is free.
func (t *Turns[K]) Try() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.begin(Now)
}

// Begin waits for a place and begins a turn. The error is ErrFull, or ErrGone if done is closed before.
func (t *Turns[K]) Begin(r Rank, key K, done <-chan struct{}) error {
	w, err := t.enter(r, key)
	if w == nil {
		return err
	}
	select {
	case <-w.turn:
		t.release(w)
		return nil
	case <-done:
	}
	t.leave(r, key, w)
	return ErrGone
}

// End ends a turn. The next one begins at once.
func (t *Turns[K]) End(r Rank) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free[r]++
	t.pass()
}

// Waits is how many turns of rank Now wait. It is cheap.
func (t *Turns[K]) Waits() int { return int(t.waits.Load()) }

// Waiting is how many turns of a holder wait.
func (t *Turns[K]) Waiting(r Rank, key K) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.by[key]; h != nil {
		return h.queues[r].len
	}
	return 0
}

// begin takes a place if one is free: then nothing that may begin waits. mu is held, as in all that follows but enter,
// leave and release.
func (t *Turns[K]) begin(r Rank) bool {
	if t.free[r] == 0 {
		return false
	}
	t.free[r]--
	return true
}

// enter takes a place, or returns a waiter for one.
func (t *Turns[K]) enter(r Rank, key K) (*waiter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.by[key]
	if (h == nil || r == Now || h.mayRead()) && t.begin(r) {
		if h != nil {
			h.granted(r)
		}
		return nil, nil
	}
	if h == nil {
		h = &holder[K]{key: key}
		t.by[key] = h
	} else if r == Now && t.most > 0 && t.Waits() >= t.most && h.queues[Now].len >= max(1, t.most/len(t.by)) {
		return nil, ErrFull
	}
	w := t.take()
	h.queues[r].push(w)
	if r == Now {
		t.waits.Add(1)
	}
	t.settle(h)
	return w, nil
}

// leave gives up waiting. If the turn has begun meanwhile, the place is passed on.
func (t *Turns[K]) leave(r Rank, key K, w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.came {
		<-w.turn
		t.free[r]++
	} else {
		t.drop(r, t.by[key], w)
	}
	t.pass()
	t.keep(w)
}

// pass passes places on.
func (t *Turns[K]) pass() {
	for r := range ranks {
		for ring := &t.rings[r]; t.free[r] > 0 && ring.next != nil; {
			h := ring.next
			ring.next = h.links[r].after
			t.free[r]--
			h.granted(r)
			w := h.queues[r].first
			t.drop(r, h, w)
			w.came = true
			w.turn <- struct{}{} // buffered, so this never blocks
		}
	}
}

// drop removes a waiter of a holder.
func (t *Turns[K]) drop(r Rank, h *holder[K], w *waiter) {
	h.queues[r].remove(w)
	if r == Now {
		t.waits.Add(-1)
	}
	t.settle(h)
}

// settle puts a holder into the rings that it belongs to, behind all others, and removes it from others.
func (t *Turns[K]) settle(h *holder[K]) {
	for r := range ranks {
		in := h.queues[r].len > 0
		if r == Later {
			in = in && h.mayRead()
		}
		switch {
		case in && h.links[r].after == nil:
			t.rings[r].push(r, h)
		case !in && h.links[r].after != nil:
			t.rings[r].remove(r, h)
		}
	}
	if h.queues[Now].len == 0 && h.queues[Later].len == 0 {
		delete(t.by, h.key)
	}
}

// take returns a waiter, a spare one if possible.
func (t *Turns[K]) take() *waiter {
	w := t.spare
	if w == nil {
		return &waiter{turn: make(chan struct{}, 1)}
	}
	t.spare, w.after = w.after, nil
	t.spares--
	return w
}

// release reuses a waiter whose turn has begun.
func (t *Turns[K]) release(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(w)
}

// keep keeps a waiter for reuse.
func (t *Turns[K]) keep(w *waiter) {
	w.came = false
	if t.spares < maxSpare {
		t.spares++
		w.after, t.spare = t.spare, w
	}
}
