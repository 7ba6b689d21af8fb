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
	ended bool
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
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.by[r.user]
	for !r.ended && p.held+int64(n) > p.limit {
		victim := p.largest(h.bytes + int64(n))
		if victim == nil {
			return false
		}
		victim.cut(victim.reading)
		victim.drop()
	}
	if r.ended {
		return false
	}
	p.held += int64(n)
	h.bytes += int64(n)
	r.bytes += int64(n)
	return true
}

// give takes back n bytes that were counted.
func (r *holding) give(n int64) {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.ended {
		return
	}
	p.held -= n
	p.by[r.user].bytes -= n
	r.bytes -= n
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
	r.ended = true
	h := r.pool.by[r.user]
	r.pool.held -= r.bytes
	h.bytes -= r.bytes
	r.bytes = 0
	delete(h.pending, r)
	if h.bytes == 0 && len(h.pending) == 0 {
		delete(r.pool.by, r.user)
	}
}
