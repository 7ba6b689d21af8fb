package budget

import (
	"context"
	"slices"
)

// Parked leases and those that wait to go on do not block each other for ever. Let all be the total of a budget:
//
//   - Parked leases hold at most three eighths of all, except for a single one that alone is larger (mayPark). That one
//     keeps all that it has while it is parked, so that it never waits for more.
//   - A lease gives back at most three quarters of half of all, which is three eighths (PartOf).
//   - While a lease waits to go on, no heavy claim is granted, and light ones have at most a quarter of all besides
//     what is parked (yields).
//
// What is held by leases that are not parked is released after a while, as these wait for no memory. Then the first
// lease that waits finds its memory: 3/8 + 3/8 + 2/8 = 1.

// PartOf is the Parked of a claim of so many bytes, of which the request needs an n-th while it waits for webhooks: all
// of a light claim and of one that needs more than half of the budget. n is at most 4.
func (b *Budget) PartOf(bytes, n int64) int64 {
	if bytes <= Light || bytes > b.total/2 {
		return bytes
	}
	return bytes / n
}

// resumption is a parked lease that waits to go on.
type resumption struct {
	lease *Lease
	// granted is closed when it has its memory.
	granted chan struct{}
}

// Park releases what the request does not need while it waits for webhooks, and its slot. It does nothing for a claim
// without Parked.
func (l *Lease) Park() {
	if l == nil || l.claim.Parked == 0 {
		return
	}
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.full > 0 || l.bytes == 0 {
		return
	}
	full := l.bytes
	b.shrink(l, min(full, l.claim.Parked))
	l.full = full
	b.away += l.bytes
	b.settle()
}

// Resume waits until the lease has again what it had before Park. It has no slot then, as the longest part of the work
// is done. The error is the cause of ctx.
func (l *Lease) Resume(ctx context.Context) error {
	if l == nil || l.claim.Parked == 0 {
		return nil
	}
	b := l.budget
	r := &resumption{l, make(chan struct{})}
	b.mu.Lock()
	if l.full == 0 {
		b.mu.Unlock()
		return nil
	}
	b.resuming = append(b.resuming, r)
	b.settle()
	b.mu.Unlock()
	select {
	case <-r.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.full == 0 { // granted at the same moment
		return nil
	}
	b.resuming = slices.DeleteFunc(b.resuming, func(x *resumption) bool { return x == r })
	b.settle()
	return context.Cause(ctx)
}

// resume lets leases go on, in their order. mu is held.
func (b *Budget) resume() {
	for len(b.resuming) > 0 {
		r := b.resuming[0]
		l := r.lease
		more := l.full - l.bytes
		if b.counts.Held+more > b.total {
			return
		}
		b.resuming = slices.Delete(b.resuming, 0, 1)
		b.away -= l.bytes
		l.full = 0
		b.add(l, more)
		close(r.granted)
	}
}

// mayPark reports whether a claim stays within the shares of Park: three eighths of the budget for all holders, a sixth
// of that for system:masters only, and half for one holder, except for a single larger claim. mu is held.
func (b *Budget) mayPark(c Claim, h *holder) bool {
	share := b.total / 16 * 5
	if c.Master {
		share = b.total / 16 * 6
	}
	return (b.parked == 0 || b.parked+c.Parked <= share) && (h.parked == 0 || h.parked+c.Parked <= share/2)
}

// yields reports whether a claim leaves memory to the leases that wait to go on. mu is held.
func (b *Budget) yields(c Claim) bool {
	if len(b.resuming) == 0 {
		return true
	}
	return !c.heavy() && b.counts.Held-b.away+c.Bytes <= b.total/4
}
