package apiserver

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/auth"
)

// pools bound the bytes that requests hold, those of system:masters by themselves. When there is no room, requests of
// the user that holds the most are cut off: so a flood, by however many users, ends at its own cost, and a request of
// a user that holds little finds room.
type pools struct {
	common, masters pool
}

// limit bounds the bytes of each. It must be called before anything is held.
func (p *pools) limit(bytes int64) { p.common.limit, p.masters.limit = bytes, bytes }

// cutOff is how many answers were cut off.
func (p *pools) cutOff() int64 { return p.common.cuts.Load() + p.masters.cuts.Load() }

// held is how many bytes are held in all.
func (p *pools) held() (n int64) {
	for _, p := range []*pool{&p.common, &p.masters} {
		p.mu.Lock()
		n += p.held
		p.mu.Unlock()
	}
	return n
}

// of is the pool of a user's requests.
func (p *pools) of(user auth.User) *pool {
	if slices.Contains(user.Groups, auth.GroupMasters) {
		return &p.masters
	}
	return &p.common
}

// pool is the bytes of some users' requests.
type pool struct {
	limit int64
	// cuts counts answers that were cut off.
	cuts atomic.Int64

	mu   sync.Mutex // guards what follows, and the requests' bytes
	held int64
	by   map[string]*holder
	pins map[any]*pin
}

// pin is memory that several requests share. It counts once, for its payer.
type pin struct {
	bytes   int64
	payer   *holding
	sharers map[*holding]struct{} // with the payer
}

// holder is what one user has, with the requests that may be cut off.
type holder struct {
	bytes   int64
	pending map[*holding]struct{}
}

// holding is what one request holds.
type holding struct {
	pool *pool
	user string
	// bytes is 0 after the end, and after it was cut off.
	bytes int64
	// shares are the keys of what it shares.
	shares []any
	ended  bool
	// reading says that the request's body is not read yet.
	reading bool
	// cut ends the reading of the body, the wait for a seat, or the answer. It is called with mu held, so never after
	// the end.
	cut func(reading bool)
}

// holderOf is who requests are counted for. Service accounts are counted by namespace: who may use one may use all.
func holderOf(user string) string {
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		namespace, _, _ := strings.Cut(account, ":")
		return "system:serviceaccount:" + namespace
	}
	return user
}

// begin registers a request. cut is called once at most, while the pool's lock is held.
func (p *pool) begin(user string, cut func(reading bool)) *holding {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]*holder{}
	}
	r := &holding{pool: p, user: holderOf(user), reading: true, cut: cut}
	h := p.by[r.user]
	if h == nil {
		h = &holder{pending: map[*holding]struct{}{}}
		p.by[r.user] = h
	}
	h.pending[r] = struct{}{}
	return r
}

// take counts n more bytes, and reports false if they would be too many, or the request was cut off.
func (r *holding) take(n int) bool {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	return r.pay(int64(n))
}

// pay is take while mu is held.
func (r *holding) pay(n int64) bool {
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

// add counts n more bytes, or fewer, while mu is held.
func (r *holding) add(n int64) {
	r.pool.held += n
	r.pool.by[r.user].bytes += n
	r.bytes += n
}

// share is take for memory that other requests may share: it counts once for all that name the same key, and for
// another of them when the one that it counts for ends. A request may name a key twice.
func (r *holding) share(key any, bytes int64) bool {
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
		shared = &pin{bytes: bytes, payer: r, sharers: map[*holding]struct{}{}}
		p.pins[key] = shared
	}
	if _, twice := shared.sharers[r]; !twice {
		shared.sharers[r] = struct{}{}
		r.shares = append(r.shares, key)
	}
	return true
}

// unshare gives back all that was shared.
func (r *holding) unshare() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.leave()
}

// leave is unshare while mu is held.
func (r *holding) leave() {
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

// give takes back n bytes that were counted.
func (r *holding) give(n int64) {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.ended {
		return
	}
	r.add(-n)
}

// largest is the largest request that may be cut off, of the user that holds the most, if that is more than so much.
func (p *pool) largest(most int64) (found *holding) {
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

// read says that the body is read.
func (r *holding) read() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.reading = false
}

// serve says that the request has its seat: it isn't cut off any more. False: it was.
func (r *holding) serve() bool {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if r.ended {
		return false
	}
	delete(r.pool.by[r.user].pending, r)
	return true
}

// end gives the bytes back.
func (r *holding) end() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	r.drop()
}

// drop is end while mu is held. It may be called twice.
func (r *holding) drop() {
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
