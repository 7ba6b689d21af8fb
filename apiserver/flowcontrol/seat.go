package flowcontrol

import "sync"

// mostAway is how many times a server's seats may be given to others by requests that wait for their clients.
const mostAway = 4

// Seat is what a request holds while it is being served. Its methods may be called by any goroutine.
type Seat struct {
	c *Controller
	// level and queues are where the request has its seat; both are empty for the level exempt. By now there may be no
	// such level any more, or another one of that name.
	level  string
	queues *queues
	// width is how many seats it leaves: one, which is enough for a short request. If lists left all that they have,
	// slow clients would make as many of them run as there are. It is 0 for what isn't counted.
	width int

	mu          sync.Mutex // guards what follows; taken before the Controller's
	away, ended bool
}

// Leave gives a seat to another request of the level while this one does nothing but wait for its client to read. So
// clients that don't read keep no one out. Beyond four times the server's seats nothing is given away any more.
func (s *Seat) Leave() { s.set(true, false) }

// Return takes the seat back. Until others have ended, more requests are being served than there are seats.
func (s *Seat) Return() { s.set(false, false) }

// end returns the seat for the last time.
func (s *Seat) end() { s.set(false, true) }

func (s *Seat) set(away, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.away == away && !ended {
		return
	}
	s.ended = ended
	switch {
	case away:
		s.away = s.leave(s.width)
	case s.away:
		s.away = false
		s.leave(-s.width)
	}
}

// leave gives others of the level so many seats more, or takes them back if width is negative. It reports false if too
// many are away.
func (s *Seat) leave(width int) bool {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if width > 0 && c.away+width > mostAway*c.seats {
		return false
	}
	c.away += width
	if s.queues == nil {
		c.exempt.Add(-int64(width))
		return true
	}
	s.queues.away += width
	if l := c.config.levels[s.level]; l != nil && c.queues[s.level] == s.queues {
		c.resize(l, s.queues.limit)
	}
	return true
}
