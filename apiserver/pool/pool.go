package pool

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
)

// Pools limit the bytes that requests hold, with a separate pool for system:masters. If a pool is full, requests of the
// user with the most bytes are cut off. So a flood of requests, of however many users, cuts off its own, and a request
// of a user that holds little still gets its memory.
type Pools struct {
	common, masters Pool
}

// Limit sets the limit of each pool. It must be called before anything is held.
func (p *Pools) Limit(bytes int64) { p.common.limit, p.masters.limit = bytes, bytes }

// CutOff is how many requests were cut off.
func (p *Pools) CutOff() int64 { return p.common.cuts.Load() + p.masters.cuts.Load() }

// Held is how many bytes are held in both pools.
func (p *Pools) Held() (n int64) {
	for _, p := range []*Pool{&p.common, &p.masters} {
		p.mu.Lock()
		n += p.held
		p.mu.Unlock()
	}
	return n
}

// Sharing is the number of requests that may be aborted and hold memory that others may share. Only tests call it
// (inflight.Limits.Sharing).
func (p *Pools) Sharing() (n int) {
	for _, p := range []*Pool{&p.common, &p.masters} {
		p.mu.Lock()
		for _, h := range p.by {
			for r := range h.pending {
				n += min(len(r.shares), 1)
			}
		}
		p.mu.Unlock()
	}
	return n
}

// Of returns the pool for a user's requests.
func (p *Pools) Of(user authentication.User) *Pool {
	if slices.Contains(user.Groups, authentication.GroupMasters) {
		return &p.masters
	}
	return &p.common
}

// Pool counts the bytes of the requests of some users.
type Pool struct {
	limit int64
	// cuts counts requests that were cut off.
	cuts atomic.Int64

	mu   sync.Mutex // guards what follows, and the requests' bytes
	held int64
	by   map[string]*holder
	pins map[any]*pin
}

// pin is memory that several requests share. It counts once, for its payer.
type pin struct {
	bytes   int64
	payer   *Holding
	sharers map[*Holding]struct{} // including the payer
}

// holder has the bytes of one user, and the user's requests that may be cut off.
type holder struct {
	bytes   int64
	pending map[*Holding]struct{}
}

// Holding is the memory of one request.
type Holding struct {
	pool *Pool
	user string
	// bytes is 0 after the end, and after the request was cut off.
	bytes int64
	// shares are the keys of the memory that it shares.
	shares []any
	ended  bool
	// reading says that the request's body is not read yet.
	reading bool
	// cut ends the reading of the body, the wait for a seat, or the response. It is called with mu held, so never after
	// the end.
	cut func(reading bool)
}

// Cut counts a request that was cut off.
func (p *Pool) Cut() { p.cuts.Add(1) }

// HolderOf returns the name for which a user's requests count. Service accounts count by namespace: a client that may
// use one of them may use all.
func HolderOf(user string) string {
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(account, ":")
		return "system:serviceaccount:" + namespace
	}
	return user
}

// Begin registers a request. cut is called at most once, with the pool's lock held.
func (p *Pool) Begin(user string, cut func(reading bool)) *Holding {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]*holder{}
	}
	r := &Holding{pool: p, user: HolderOf(user), reading: true, cut: cut}
	h := p.by[r.user]
	if h == nil {
		h = &holder{pending: map[*Holding]struct{}{}}
		p.by[r.user] = h
	}
	h.pending[r] = struct{}{}
	return r
}

// Take counts n more bytes. It returns false if the pool is full or the request was cut off.
func (r *Holding) Take(n int) bool {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	return r.pay(int64(n))
}

// pay is Take with mu held.
func (r *Holding) pay(n int64) bool {
	p := r.pool
	for !r.ended && p.held+n > p.limit {
		victim := p.largest(p.by[r.user].bytes + n)
		if victim == nil {
			return false
		}
		victim.cut(victim.reading)
		victim.drop()
	}
	if r.ended {
		return false
	}
	r.add(n)
	return true
}

// add changes the count by n bytes, which may be negative. mu is held.
func (r *Holding) add(n int64) {
	r.pool.held += n
	r.pool.by[r.user].bytes += n
	r.bytes += n
}

// Share is Take for memory that other requests may share. It counts once for all requests with the same key. When the
// request for which it counts ends, it counts for another one. A request may use a key twice.
func (r *Holding) Share(key any, bytes int64) bool {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	shared := p.pins[key]
	switch {
	case r.ended:
		return false
	case shared == nil:
		if !r.pay(bytes) {
			return false
		}
		if p.pins == nil {
			p.pins = map[any]*pin{}
		}
		shared = &pin{bytes: bytes, payer: r, sharers: map[*Holding]struct{}{}}
		p.pins[key] = shared
	}
	if _, twice := shared.sharers[r]; !twice {
		shared.sharers[r] = struct{}{}
		r.shares = append(r.shares, key)
	}
	return true
}

// Unshare releases everything that was shared.
func (r *Holding) Unshare() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.leave()
}

// leave is Unshare with mu held.
func (r *Holding) leave() {
	p := r.pool
	for _, key := range r.shares {
		shared := p.pins[key]
		delete(shared.sharers, r)
		if shared.payer != r {
			continue
		}
		r.add(-shared.bytes)
		shared.payer = nil
		for next := range shared.sharers {
			next.add(shared.bytes)
			shared.payer = next
			break
		}
		if shared.payer == nil {
			delete(p.pins, key)
		}
	}
	clear(r.shares)
	r.shares = r.shares[:0]
}

// Give releases n bytes.
func (r *Holding) Give(n int64) {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.ended {
		return
	}
	r.add(-n)
}

// largest is the largest request that may be cut off, of the user with the most bytes, if these are more than most.
func (p *Pool) largest(most int64) (found *Holding) {
	for _, h := range p.by {
		if h.bytes <= most || len(h.pending) == 0 {
			continue
		}
		most = h.bytes
		found = nil
		for r := range h.pending {
			if found == nil || r.bytes > found.bytes {
				found = r
			}
		}
	}
	return found
}

// Read records that the body has been read.
func (r *Holding) Read() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.reading = false
}

// Serve records that the request has its seat: it is not cut off any more. It returns false if it was cut off before.
func (r *Holding) Serve() bool {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if r.ended {
		return false
	}
	delete(r.pool.by[r.user].pending, r)
	return true
}

// End releases the bytes.
func (r *Holding) End() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.drop()
}

// drop is End with mu held. It may be called twice.
func (r *Holding) drop() {
	if r.ended {
		return
	}
	r.leave()
	r.add(-r.bytes)
	r.ended = true
	h := r.pool.by[r.user]
	delete(h.pending, r)
	if h.bytes == 0 && len(h.pending) == 0 {
		delete(r.pool.by, r.user)
	}
}
