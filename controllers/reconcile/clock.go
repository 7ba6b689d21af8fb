package reconcile

import "time"

const (
	// clockInterval is how often a Loop with waiting keys checks whether the wall clock was set.
	clockInterval = time.Minute
	// clockTolerance is the largest difference that is regarded as an adjustment of the clock.
	clockTolerance = time.Second
)

// clock detects that the wall clock was set, or that the machine was suspended: it and the monotonic clock, on which
// timers depend, have then advanced by different times.
type clock struct {
	wall func() time.Time
	// last and lastWall are the readings of both clocks at the last call of set.
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
