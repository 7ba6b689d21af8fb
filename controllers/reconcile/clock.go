package reconcile

import "time"

const (
	// clockInterval is how often a Loop with something that waits looks whether the wall clock was set.
	clockInterval = time.Minute
	// clockTolerance is what is taken for adjustment rather than for a jump.
	clockTolerance = time.Second
)

// clock notices that the wall clock was set, or that the machine was suspended: it and the monotonic clock, which
// timers go by, have moved on by different times.
type clock struct {
	wall func() time.Time
	// last and lastWall are the readings of both when set was called last.
	last, lastWall time.Time
}

func newClock(wall func() time.Time) *clock {
	if wall == nil {
		wall = time.Now
	}
	return &clock{wall: wall, last: time.Now(), lastWall: wall().Round(0)}
}

// set reports whether the wall clock was set since the last call. now is a reading with the monotonic clock.
func (c *clock) set(now time.Time) bool {
	wall := c.wall().Round(0)
	drift := wall.Sub(c.lastWall) - now.Sub(c.last)
	c.last, c.lastWall = now, wall
	return drift.Abs() > clockTolerance
}
