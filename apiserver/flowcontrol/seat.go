package flowcontrol

import "sync"

// mostAway limits the seats that waiting requests have given up, as a multiple of all seats.
const mostAway = 4

// Seat is what a request holds while it is being served. Its methods may be called by any goroutine.
type Seat struct {
	c *Controller
	// level and queues are where the request has its seat; both are empty for the level exempt. The level may have been
	// removed, or replaced by another one of that name.
	level  string
	queues *queues
	// width is how many seats it gives up: one, which is enough for a short request. If lists gave up all their seats,
	// slow clients could make as many lists run as there are seats. It is 0 for requests that are not counted.
	width int

	mu          sync.Mutex // guards what follows; locked before the Controller's
	away, ended bool
}

// Leave gives up a seat while the request waits for its client to read, or for webhooks, so that neither blocks other
// requests of the level. It has no effect when four times the server's seats have been given up.
func (s *Seat) Leave() { s.set(true, false) }

// Return takes the seat back. Until other requests have ended, more are being served than there are seats.
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

// leave raises the number of the level's seats by width, or lowers it if width is negative. It returns false if too
// many have been given up.
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
