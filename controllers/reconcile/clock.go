package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// mostAhead is the maximum time that a Clock may be ahead of the machine's, so that times in certificates and objects
// stay valid.
const mostAhead = 100 * 365 * 24 * time.Hour

// Clock is the clock of controllers, and of the times in objects. It is ahead of the machine's clock by the time that
// was added. The zero value, and a nil Clock, are the machine's clock.
type Clock struct {
	ahead atomic.Int64
	mu    sync.Mutex // guards moved, and changes of ahead
	// moved is closed at the next Advance; nil if no one waits.
	moved chan struct{}
}

// Now returns the time, with the reading of the monotonic clock.
func (c *Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	return time.Now().Add(time.Duration(c.ahead.Load()))
}

// Advance advances the clock by d. Passes that wait for a time that is then past are due at once. It returns an error
// if d is negative, or if the clock would be more than 100 years ahead.
func (c *Clock) Advance(d time.Duration) error {
	if d < 0 {
		return errors.New("clock: the time can't be set back")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > mostAhead-time.Duration(c.ahead.Load()) {
		return fmt.Errorf("clock: more than %v ahead of the machine's", mostAhead)
	}
	c.ahead.Add(int64(d))
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
	return nil
}

// Ahead returns the time by which the clock is ahead of the machine's.
func (c *Clock) Ahead() time.Duration { return time.Duration(c.ahead.Load()) }

// Restore sets the time by which the clock is ahead to an earlier result of Ahead. It may set the clock back, so
// nothing that depends on the clock may run.
func (c *Clock) Restore(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead.Store(int64(ahead))
}

// Moved returns a channel that is closed at the next Advance.
func (c *Clock) Moved() <-chan struct{} {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	return c.moved
}

// clockOf returns the clock of the context's monitor; nil without one.
func clockOf(ctx context.Context) *Clock {
	if s, _ := ctx.Value(scopeKey{}).(scope); s.monitor != nil {
		return s.monitor.Clock
	}
	return nil
}

// Now returns the time of the context's monitor, the machine's without one.
func Now(ctx context.Context) time.Time { return clockOf(ctx).Now() }

const (
	// clockInterval is the interval at which a Loop with waiting keys checks whether the wall clock was set.
	clockInterval = time.Minute
	// clockTolerance is the largest difference that is regarded as an adjustment of the clock.
	clockTolerance = time.Second
)

// drift detects that the wall clock was set, or that the machine was suspended: the wall clock and the monotonic clock,
// on which timers depend, have then advanced by different times.
type drift struct {
	wall func() time.Time
	// last and lastWall are the readings of both clocks at the last call of set.
	last, lastWall time.Time
}

func newDrift(wall func() time.Time) *drift {
	return &drift{wall: wall, last: time.Now(), lastWall: wall().Round(0)}
}

// set reports whether the wall clock was set since the last call. now is a reading with the monotonic clock.
func (c *drift) set(now time.Time) bool {
	wall := c.wall().Round(0)
	by := wall.Sub(c.lastWall) - now.Sub(c.last)
	c.last, c.lastWall = now, wall
	return by.Abs() > clockTolerance
}
