package budget

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

const (
	// Light is the size of the largest light claim, in bytes: that of usual requests, and of the compression of a
	// response.
	Light = 1280 << 10
	// Slow is the size of the smallest slow claim, in bytes: it takes some tenths of a second to serve.
	Slow = 16 << 20
	// maxWaiting is the maximum number of waiting claims.
	maxWaiting = 1024
	// maxSpare is the maximum number of holders that are kept for reuse.
	maxSpare = 64
)

// Errors of Acquire.
var (
	// ErrTooLarge: the claim is more than an empty budget has room for.
	ErrTooLarge = errors.New("the request would take more memory than the server has for one")
	// ErrFull: too many claims wait.
	ErrFull = errors.New("too many requests wait for memory")
)

// Claim is the memory that a request needs.
type Claim struct {
	// Holder is the user for whom it counts.
	Holder string
	Bytes  int64
	// Master says that the holder is in system:masters.
	Master bool
	// Most is a limit for the claim, in bytes, whatever the size of the budget; 0 is no limit.
	Most int64
	// Parked is how many of the bytes the request still needs while it waits for webhooks (Lease.Park); 0 if it never
	// waits for them.
	Parked int64
}

// heavy reports whether the claim waits for memory that claims of others hold.
func (c Claim) heavy() bool { return c.Bytes > Light }

// slow reports whether the claim takes long to serve.
func (c Claim) slow() bool { return c.Bytes >= Slow }

// Counts is the state of a budget and its counters.
type Counts struct {
	// Held is in bytes, Waiting in claims.
	Held, Waiting int64
	// TooLarge and Full count rejected claims, Ended those whose context ended while they waited.
	TooLarge, Full, Ended int64
}

// Budget is an amount of memory.
type Budget struct {
	total int64
	slots int

	mu     sync.Mutex // guards what follows
	counts Counts
	// slow is how many slots are in use; waiting is how many light and heavy claims wait.
	slow    int
	waiting [2]int
	holders map[string]*holder
	// parked is the sum of Claim.Parked of the leases, at most a share of the total; away is what leases hold that are
	// parked now.
	parked, away int64
	// resuming are leases that wait for the memory that they had before Park, in their order.
	resuming []*resumption
	// spare are holders for reuse.
	spare []*holder
	// order numbers the waiting claims.
	order uint64
}

// holder has the leases and the waiting claims of one user.
type holder struct {
	// heavy is the part of bytes that heavy claims hold.
	bytes, heavy int64
	// parked is the holder's part of Budget.parked.
	parked int64
	// slow is how many slots the holder has.
	slow int
	// waiting are the waiting claims in their order: light and heavy ones, and those that may be parked.
	waiting [queues][]*waiter
}

// waiter is a waiting claim.
type waiter struct {
	Claim
	order uint64
	// granted is closed when there is a lease, or an error.
	granted chan struct{}
	lease   *Lease
	err     error
}

// New returns a budget of total bytes, of which at most slots slow claims are held at a time.
func New(total int64, slots int) *Budget {
	return &Budget{total: total, slots: max(slots, 1), holders: map[string]*holder{}}
}

// Total is the size of the budget in bytes.
func (b *Budget) Total() int64 { return b.total }

// ceiling is how many bytes may be held including the claim.
func (b *Budget) ceiling(c Claim) int64 {
	eighths := int64(8)
	if c.heavy() {
		eighths--
	}
	if !c.Master {
		eighths--
	}
	return b.total / 8 * eighths
}

// most is how many bytes the claim may have if nothing else is held.
func (b *Budget) most(c Claim) int64 {
	if c.Most > 0 {
		return min(c.Most, b.ceiling(c))
	}
	return b.ceiling(c)
}

// Counts returns the state of the budget and its counters.
func (b *Budget) Counts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts
}

// Try returns a lease if the claim fits and no waiting claim precedes it; else nil.
func (b *Budget) Try(c Claim) *Lease {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting[c.weight()] > 0 || c.Bytes > b.most(c) || !b.fits(c) {
		return nil
	}
	return b.grant(c)
}

// Acquire waits until the claim fits or ctx ends. Errors: ErrTooLarge, ErrFull, or the cause of ctx.
func (b *Budget) Acquire(ctx context.Context, c Claim) (*Lease, error) {
	if l := b.Try(c); l != nil {
		return l, nil
	}
	w, err := b.enter(c)
	if err != nil {
		return nil, err
	}
	select {
	case <-w.granted:
		return w.lease, w.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case w.lease != nil: // at the same moment
		b.shrink(w.lease, 0)
		b.settle()
	case w.err == nil:
		b.leave(w)
		b.settle()
		b.counts.Ended++
	}
	return nil, context.Cause(ctx)
}

// enter makes a claim wait if it can be granted at some time.
func (b *Budget) enter(c Claim) (*waiter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if most := b.most(c); c.Bytes > most {
		b.counts.TooLarge++
		return nil, fmt.Errorf("%w: about %d MiB of %d", ErrTooLarge, c.Bytes>>20, most>>20)
	}
	if b.counts.Waiting >= maxWaiting {
		b.counts.Full++
		last := b.latest(c.Holder)
		if last == nil {
			return nil, ErrFull
		}
		last.err = ErrFull
		b.leave(last)
		close(last.granted)
	}
	b.order++
	w := &waiter{Claim: c, order: b.order, granted: make(chan struct{})}
	h := b.holder(c.Holder)
	h.waiting[c.queue()] = append(h.waiting[c.queue()], w)
	b.waiting[c.weight()]++
	b.counts.Waiting++
	b.settle()
	return w, nil
}

// weight is 1 for a heavy claim, else 0.
func (c Claim) weight() int {
	if c.heavy() {
		return 1
	}
	return 0
}

// queues is the number of a holder's queues.
const queues = 4

// queue is the queue of a holder in which the claim waits. Claims that may be parked have queues of their own, as only
// these wait for the share of Park.
func (c Claim) queue() int {
	if c.Parked > 0 {
		return c.weight() + 2
	}
	return c.weight()
}

// holder returns the holder of a name, a new one if necessary. mu is held.
func (b *Budget) holder(name string) *holder {
	h := b.holders[name]
	if h != nil {
		return h
	}
	if n := len(b.spare); n > 0 {
		h, b.spare = b.spare[n-1], b.spare[:n-1]
	} else {
		h = &holder{}
	}
	b.holders[name] = h
	return h
}

// latest is the latest claim of the holder with the most waiting claims; nil if no holder has more than this one. mu is
// held.
func (b *Budget) latest(than string) (found *waiter) {
	most := 0
	if h := b.holders[than]; h != nil {
		most = h.count()
	}
	for _, h := range b.holders {
		if h.count() <= most {
			continue
		}
		most, found = h.count(), nil
		for _, queue := range h.waiting {
			if n := len(queue); n > 0 && (found == nil || queue[n-1].order > found.order) {
				found = queue[n-1]
			}
		}
	}
	return found
}

func (h *holder) count() (n int) {
	for _, queue := range h.waiting {
		n += len(queue)
	}
	return n
}
