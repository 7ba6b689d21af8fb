package turns

// holder is what waits of one holder's.
type holder[K comparable] struct {
	key    K
	queues [ranks]queue
	// in is the ring that the holder is in, between two others.
	in            *ring[K]
	before, after *holder[K]
}

// ring is holders whose turns come one after the other.
type ring[K comparable] struct {
	// next is the one whose turn is next; nil if there are none.
	next *holder[K]
}

// push puts a holder behind all others.
func (r *ring[K]) push(h *holder[K]) {
	if r.next == nil {
		h.before, h.after = h, h
		r.next = h
		return
	}
	h.before, h.after = r.next.before, r.next
	h.before.after, h.after.before = h, h
}

// remove takes a holder out.
func (r *ring[K]) remove(h *holder[K]) {
	switch {
	case h.after == h:
		r.next = nil
	case r.next == h:
		r.next = h.after
	}
	h.before.after, h.after.before = h.after, h.before
	h.before, h.after = nil, nil
}

// queue is what waits of one holder's for turns of one rank.
type queue struct {
	// first waits longest.
	first, last *waiter
	len         int
}

// waiter is one that waits.
type waiter struct {
	// turn is sent to when the turn comes.
	turn          chan struct{}
	before, after *waiter
	// came says that the turn has come.
	came bool
}

// push puts a waiter behind all others.
func (q *queue) push(w *waiter) {
	q.len++
	if w.before = q.last; q.last == nil {
		q.first = w
	} else {
		q.last.after = w
	}
	q.last = w
}

// remove takes a waiter out.
func (q *queue) remove(w *waiter) {
	q.len--
	if w.before == nil {
		q.first = w.after
	} else {
		w.before.after = w.after
	}
	if w.after == nil {
		q.last = w.before
	} else {
		w.after.before = w.before
	}
	w.before, w.after = nil, nil
}
