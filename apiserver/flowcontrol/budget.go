package flowcontrol

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Patience is the time for which Budget.Acquire waits.
const Patience = 5 * time.Second

// Budget is a number of bytes. One user may hold half of them.
type Budget struct {
	shares *Shares
	all    *semaphore.Weighted
	held   atomic.Int64
	// reserve is another eighth of the bytes, so that requests of up to smallBytes don't wait for large ones.
	reserve    *semaphore.Weighted
	smallBytes int64
}

// smallRequest is about the memory of a write of an object of a few KiB.
const smallRequest = 1 << 20

// NewBudget returns a budget of bytes.
func NewBudget(bytes int64) *Budget {
	return &Budget{
		shares: NewShares(bytes/2, 0), all: semaphore.NewWeighted(bytes),
		reserve: semaphore.NewWeighted(bytes / 8), smallBytes: min(smallRequest, bytes/64),
	}
}

// Total returns the number of bytes.
func (b *Budget) Total() int64 { return 2 * b.shares.size }

// Share returns the number of bytes that one user may hold.
func (b *Budget) Share() int64 { return b.shares.size }

// Held returns the number of acquired bytes.
func (b *Budget) Held() int64 { return b.held.Load() }

// Acquire acquires bytes for a user until release is called. It waits until they are free. Errors: status.ErrTooLarge
// if they exceed a user's share, status.ErrFull if they are not free in time, and the error of ctx.
func (b *Budget) Acquire(ctx context.Context, name string, bytes int64) (release func(), err error) {
	switch {
	case bytes <= 0:
		return func() {}, nil
	case bytes > b.shares.size:
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", status.ErrTooLarge, bytes, b.shares.size)
	}
	waiting, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	leave, err := b.shares.Acquire(waiting, name, bytes)
	if err == nil {
		of := b.all
		if bytes > b.smallBytes {
			err = of.Acquire(waiting, bytes)
		} else if !of.TryAcquire(bytes) {
			of = b.reserve
			err = of.Acquire(waiting, bytes)
		}
		if err == nil {
			return b.releaser(of, leave, bytes), nil
		}
		leave()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, status.ErrFull
}

// Try is Acquire without waiting. ok is false if the bytes are not free, or if another request waits for bytes.
func (b *Budget) Try(name string, bytes int64) (release func(), ok bool) {
	if bytes > b.shares.size {
		return nil, false
	}
	leave, ok := b.shares.Try(name, bytes)
	if !ok {
		return nil, false
	}
	if !b.all.TryAcquire(bytes) {
		leave()
		return nil, false
	}
	return b.releaser(b.all, leave, bytes), true
}

// releaser returns the function that releases the bytes.
func (b *Budget) releaser(of *semaphore.Weighted, leave func(), bytes int64) func() {
	b.held.Add(bytes)
	return func() {
		b.held.Add(-bytes)
		of.Release(bytes)
		leave()
	}
}

// Shares limits the units that each user may hold.
type Shares struct {
	size int64
	// maxRequests is the maximum number of a user's requests that hold units or wait for them. 0 is no limit.
	maxRequests int

	mu    sync.Mutex // guards users
	users map[string]*holder
}

// holder is the share of one user, while requests of the user hold units or wait for them.
type holder struct {
	*semaphore.Weighted
	requests int
}

// NewShares returns Shares with size units for each user, and a limit of requests (see Shares).
func NewShares(size int64, maxRequests int) *Shares {
	return &Shares{size: size, maxRequests: maxRequests, users: map[string]*holder{}}
}

// Acquire acquires n units for a user, but at most the whole share, until release is called. It waits until they are
// free. Errors: that of ctx, and status.ErrFull if the user has too many requests.
func (s *Shares) Acquire(ctx context.Context, name string, n int64) (release func(), err error) {
	n = min(n, s.size)
	u, requests := s.join(name)
	if s.maxRequests > 0 && requests > s.maxRequests {
		s.leave(name, u)
		return nil, status.ErrFull
	}
	if err := u.Acquire(ctx, n); err != nil {
		s.leave(name, u)
		return nil, err
	}
	return s.releaser(name, u, n), nil
}

// Try is Acquire without waiting. ok is false if the units are not free.
func (s *Shares) Try(name string, n int64) (release func(), ok bool) {
	n = min(n, s.size)
	u, _ := s.join(name)
	if !u.TryAcquire(n) {
		s.leave(name, u)
		return nil, false
	}
	return s.releaser(name, u, n), true
}

// releaser returns the function that releases the units.
func (s *Shares) releaser(name string, u *holder, n int64) func() {
	return func() {
		u.Release(n)
		s.leave(name, u)
	}
}

// join adds a request to its user's share, and returns the number of the user's requests.
func (s *Shares) join(name string) (u *holder, requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u = s.users[name]
	if u == nil {
		u = &holder{Weighted: semaphore.NewWeighted(s.size)}
		s.users[name] = u
	}
	u.requests++
	return u, u.requests
}

// leave removes a request of a user.
func (s *Shares) leave(name string, u *holder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.requests--; u.requests == 0 {
		delete(s.users, name)
	}
}
