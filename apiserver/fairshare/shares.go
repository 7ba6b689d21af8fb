package fairshare

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Shares bounds what each user may hold.
type Shares struct {
	size int64

	mu    sync.Mutex // guards users
	users map[string]*user
}

// user has the share of one user as long as requests of the user hold a part of it or wait for it.
type user struct {
	*semaphore.Weighted
	requests int
}

// NewShares returns Shares of a size in units.
func NewShares(size int64) *Shares { return &Shares{size: size, users: map[string]*user{}} }

// Acquire takes n units of a user's share until release is called, at most the whole share. It waits for them. The
// error is that of ctx.
func (s *Shares) Acquire(ctx context.Context, name string, n int64) (release func(), err error) {
	n = min(n, s.size)
	u := s.join(name)
	if err := u.Acquire(ctx, n); err != nil {
		s.leave(name, u)
		return nil, err
	}
	return s.releaser(name, u, n), nil
}

// Try is Acquire without waiting; ok is false if the units are not free.
func (s *Shares) Try(name string, n int64) (release func(), ok bool) {
	n = min(n, s.size)
	u := s.join(name)
	if !u.TryAcquire(n) {
		s.leave(name, u)
		return nil, false
	}
	return s.releaser(name, u, n), true
}

// releaser returns the function that releases what was acquired.
func (s *Shares) releaser(name string, u *user, n int64) func() {
	return func() {
		u.Release(n)
		s.leave(name, u)
	}
}

// join adds a request to its user's.
func (s *Shares) join(name string) *user {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[name]
	if u == nil {
		u = &user{Weighted: semaphore.NewWeighted(s.size)}
		s.users[name] = u
	}
	u.requests++
	return u
}

// leave removes a request of a user.
func (s *Shares) leave(name string, u *user) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.requests--; u.requests == 0 {
		delete(s.users, name)
	}
}
