package turns

// holder has the waiting turns of one holder.
type holder[K comparable] struct {
	key    K
	queues [ranks]queue
	// links are the holder's places in the rings.
	links [ranks]link[K]
	// credit is how many turns of rank Now have begun since the last one of rank Later.
	credit int
}

// link is a place in a ring, between two holders; both are nil if the holder is not in the ring.
type link[K comparable] struct{ before, after *holder[K] }

// mayRead reports whether a turn of rank Later may begin.
func (h *holder[K]) mayRead() bool { return h.queues[Now].len < Few || h.credit >= Few }

// granted records that a turn begins.
func (h *holder[K]) granted(r Rank) {
	if r == Later {
		h.credit = 0
	} else {
		h.credit++
	}
}

// ring is a list of holders whose turns come one after the other.
type ring[K comparable] struct {
	// next is the holder whose turn is next; nil if there is none.
	next *holder[K]
}

// push adds a holder behind all others.
func (r *ring[K]) push(rank Rank, h *holder[K]) {
	mine := &h.links[rank]
	if r.next == nil {
		*mine = link[K]{h, h}
		r.next = h
		return
	}
	mine.before, mine.after = r.next.links[rank].before, r.next
	mine.before.links[rank].after, mine.after.links[rank].before = h, h
}

// remove removes a holder.
func (r *ring[K]) remove(rank Rank, h *holder[K]) {
	mine := &h.links[rank]
	switch {
	case mine.after == h:
		r.next = nil
	case r.next == h:
		r.next = mine.after
	}
	mine.before.links[rank].after, mine.after.links[rank].before = mine.after, mine.before
	*mine = link[K]{}
}

// queue has the waiters of one holder for turns of one rank.
type queue struct {
	// first has waited longest.
	first, last *waiter
	len         int
}

// waiter waits for a turn.
type waiter struct {
	// turn receives a value when the turn begins.
	turn          chan struct{}
	before, after *waiter
	// came says that the turn has begun.
	came bool
}

// push adds a waiter behind all others.
func (q *queue) push(w *waiter) {
	q.len++
	if w.before = q.last; q.last == nil {
		q.first = w
	} else {
		q.last.after = w
	}
	q.last = w
}

// remove removes a waiter.
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
