package flowcontrol

import (
	"context"
	"errors"
	"sync"

	"github.com/kubecascade/kubecascade/apiserver/budget"
)

// mostAway is how many times the server's seats may be lent by requests that wait for their clients, and as many again
// by requests that call webhooks.
const mostAway = 4

// place is what a request that calls webhooks claims of Controller.places. A budget of few seats is divisible by it.
const place = 16

// ErrFull: too many requests of the user wait until they may call webhooks.
var ErrFull = errors.New("too many requests wait for webhooks")

// Seat is what a request holds while it is being served. Its methods may be called by any goroutine.
type Seat struct {
	c *Controller
	// level and queues are where the request has its seat; both are empty for the level exempt. The level may have been
	// removed, or replaced by another one of that name.
	level  string
	queues *queues
	// holder is the user for whom a lent seat counts.
	holder string
	// width is how many seats it lends: one, which is enough for a short request. If lists lent all their seats, slow
	// clients could make as many of them run as there are seats. It is 0 for requests that are not counted.
	width int

	mu sync.Mutex // guards what follows; locked before the Controller's
	// counted says that the seat is lent and counts in Controller.away.
	away, counted, ended bool
}

// Leave lends a seat to another request of the level while this one only waits for its client to read, so that it keeps
// no others out. Beyond four times the server's seats nothing is lent any more, and beyond half of that nothing of one
// user.
func (s *Seat) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away || s.ended {
		return
	}
	s.counted = s.c.count(s.holder, s.width)
	if s.away = s.counted; s.away {
		s.lend(s.width)
	}
}

// Await lends a seat until Return while the request waits for webhooks, and waits until it may call them: four times as
// many requests as there are seats do that at the same time, and one user's do not take all of these places. end gives
// the place back. If ctx ends before, there is nothing to give back, and no error, as what the request does next ends
// at once. The error is ErrFull if too many requests wait for a place, most of them of this user.
func (s *Seat) Await(ctx context.Context) (end func(), err error) {
	s.mu.Lock()
	if !s.away && !s.ended {
		s.away = true
		s.lend(s.width)
	}
	s.mu.Unlock()
	p, err := s.c.places.Acquire(ctx, budget.Claim{Holder: s.holder, Bytes: place, Master: s.queues == nil})
	if errors.Is(err, budget.ErrFull) {
		return nil, ErrFull
	}
	return p.Release, nil
}

// Return takes the seat back. Until other requests have ended, more are being served than there are seats.
func (s *Seat) Return() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take()
}

// end returns the seat for the last time.
func (s *Seat) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take()
	s.ended = true
}

// take is Return. mu is held.
func (s *Seat) take() {
	if !s.away || s.ended {
		return
	}
	if s.counted {
		s.c.uncount(s.holder, s.width)
	}
	s.away, s.counted = false, false
	s.lend(-s.width)
}

// lend raises the number of the level's seats by width, or lowers it if width is negative.
func (s *Seat) lend(width int) {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.queues == nil {
		c.exempt.Add(-int64(width))
		return
	}
	s.queues.away += width
	if l := c.config.levels[s.level]; l != nil && c.queues[s.level] == s.queues {
		c.resize(l, s.queues.limit)
	}
}

// count counts seats that a user's requests lend. It returns false if too many are lent.
func (c *Controller) count(holder string, width int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := mostAway * c.seats
	if c.away+width > most || c.lent[holder]+width > most/2 {
		return false
	}
	c.away += width
	c.lent[holder] += width
	return true
}

// uncount is the inverse of count.
func (c *Controller) uncount(holder string, width int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away -= width
	if c.lent[holder] -= width; c.lent[holder] == 0 {
		delete(c.lent, holder)
	}
}
