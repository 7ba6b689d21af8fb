package server

import (
	"context"
	"sync"
)

// controllerRun is a run of the controllers. A rollback ends it and starts another one, whose controllers know nothing
// of what was before.
type controllerRun struct {
	mu sync.Mutex // guards what follows
	// cancel tells them to end; nil before there are any.
	cancel context.CancelFunc
	all    *sync.WaitGroup
	// stop ends the keeping of the objects of bootstrap.Check, upon which unkept is closed; nil if they are not kept.
	stop   func()
	unkept chan struct{}
}

// startControllers starts the controllers, unless the server is about to end.
func (s *system) startControllers() {
	c := &s.current
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.life.Err() != nil {
		return
	}
	run, cancel := context.WithCancel(s.running)
	c.cancel, c.all = cancel, &sync.WaitGroup{}
	if !s.c.readOnly() {
		c.stop, c.unkept = s.runOwn(run, c.all)
	}
	c.all.Go(func() { s.lead(run) })
}

// end ends the controllers and waits for them. It returns false if life is done before.
func (c *controllerRun) end(life context.Context) bool {
	c.mu.Lock()
	cancel := c.cancel
	c.mu.Unlock()
	cancel()
	ended := make(chan struct{})
	go func() { // outlives end only with a controller that hangs when the server ends
		c.wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-life.Done():
		return false
	}
}

// wait waits until the controllers have ended.
func (c *controllerRun) wait() {
	c.mu.Lock()
	all := c.all
	c.mu.Unlock()
	all.Wait()
}

// stopKeeping ends the keeping of objects; the channel is closed when it has ended, and nil if they are not kept.
func (c *controllerRun) stopKeeping() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
	return c.unkept
}
