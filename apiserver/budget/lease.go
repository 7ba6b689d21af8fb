package budget

// Lease is the memory that a request holds. The methods may be called on nil, which holds nothing, and Release twice.
type Lease struct {
	budget *Budget
	claim  Claim
	// bytes are what the lease still holds; slow says that it has a slot.
	bytes int64
	slow  bool
	// reserved is the lease's part of Budget.parked. full is what it held before Park; 0 if it is not parked.
	reserved, full int64
}

// Bytes is how many bytes are held.
func (l *Lease) Bytes() int64 {
	if l == nil {
		return 0
	}
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	return l.bytes
}

// Shrink releases all but so many bytes, and the slot of a slow claim, whose work is done.
func (l *Lease) Shrink(bytes int64) {
	if l == nil {
		return
	}
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shrink(l, bytes) {
		b.settle()
	}
}

// Release releases everything.
func (l *Lease) Release() { l.Shrink(0) }

// grant returns a lease for the claim. mu is held.
func (b *Budget) grant(c Claim) *Lease {
	h := b.holder(c.Holder)
	l := &Lease{budget: b, claim: c, slow: c.slow(), reserved: c.Parked}
	b.add(l, c.Bytes)
	b.parked += l.reserved
	h.parked += l.reserved
	if l.slow {
		b.slow++
		h.slow++
	}
	return l
}

// add gives a lease more bytes; fewer if that is negative. mu is held.
func (b *Budget) add(l *Lease, bytes int64) {
	h := b.holders[l.claim.Holder]
	l.bytes += bytes
	b.counts.Held += bytes
	h.bytes += bytes
	if l.claim.heavy() {
		h.heavy += bytes
	}
	if l.full > 0 {
		b.away += bytes
	}
}

// shrink reports whether it has released something. mu is held.
func (b *Budget) shrink(l *Lease, to int64) bool {
	less := l.bytes - to
	if less <= 0 && !l.slow {
		return false
	}
	h := b.holders[l.claim.Holder]
	b.add(l, -max(less, 0))
	if unused := l.reserved - l.bytes; unused > 0 { // a request that needs less does not wait for webhooks any more
		l.reserved -= unused
		b.parked -= unused
		h.parked -= unused
	}
	if l.bytes == 0 {
		l.full = 0
	}
	if l.slow {
		l.slow = false
		b.slow--
		h.slow--
	}
	b.forget(l.claim.Holder)
	return true
}

// forget removes a holder that neither holds nor waits. mu is held.
func (b *Budget) forget(name string) {
	if h := b.holders[name]; h != nil && h.bytes == 0 && h.slow == 0 && h.count() == 0 {
		delete(b.holders, name)
		if len(b.spare) < maxSpare { // it equals a new one
			b.spare = append(b.spare, h)
		}
	}
}
