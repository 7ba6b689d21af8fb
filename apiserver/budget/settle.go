package budget

import "slices"

// fits reports whether a claim can be granted now. mu is held.
func (b *Budget) fits(c Claim) bool {
	return b.counts.Held+c.Bytes <= b.ceiling(c) && b.may(c) && b.yields(c)
}

// may reports whether the claim stays within its holder's share, whether or not it fits. mu is held.
func (b *Budget) may(c Claim) bool {
	h := b.holders[c.Holder]
	if h == nil {
		h = &holder{}
	}
	if c.heavy() && h.heavy > 0 && h.heavy+c.Bytes > b.ceiling(c)/2 {
		return false
	}
	if light := h.bytes - h.heavy; !c.heavy() && light+c.Bytes > b.ceiling(c)/2 {
		return false
	}
	if c.Parked > 0 && !b.mayPark(c, h) {
		return false
	}
	return !c.slow() || b.slow < b.slots && (h.slow == 0 || h.slow < b.slots-1)
}

// settle grants the waiting claims that fit, in order. mu is held.
func (b *Budget) settle() {
	b.resume()
	if b.counts.Waiting == 0 {
		return
	}
	for {
		w := b.next()
		if w == nil {
			return
		}
		b.leave(w)
		w.lease = b.grant(w.Claim)
		close(w.granted)
	}
}

// next is the claim to grant now; nil for none. Of the holders' first heavy claims only the one in front is considered,
// so that memory accumulates for it. Holders that have reached their share are skipped. mu is held.
func (b *Budget) next() *waiter {
	var first [2]*waiter
	for _, h := range b.holders {
		for _, queue := range h.waiting {
			if len(queue) == 0 {
				continue
			}
			w := queue[0]
			if at := &first[w.weight()]; b.may(w.Claim) && b.before(w, *at) {
				*at = w
			}
		}
	}
	for _, w := range first {
		if w != nil && b.fits(w.Claim) {
			return w
		}
	}
	return nil
}

// before is the order of claims: by the bytes that their holders hold, then by arrival.
func (b *Budget) before(w, than *waiter) bool {
	if than == nil {
		return true
	}
	has, has2 := b.holders[w.Holder].bytes, b.holders[than.Holder].bytes
	return has < has2 || has == has2 && w.order < than.order
}

// leave removes a claim from its queue. mu is held.
func (b *Budget) leave(w *waiter) {
	h := b.holders[w.Holder]
	queue := &h.waiting[w.queue()]
	*queue = slices.DeleteFunc(*queue, func(x *waiter) bool { return x == w })
	b.waiting[w.weight()]--
	b.counts.Waiting--
	b.forget(w.Holder)
}
