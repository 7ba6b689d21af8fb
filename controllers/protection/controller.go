package protection

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Options configure a controller. Zero values mean the defaults.
type Options struct {
	// Workers is how many passes run at once (default 4). Upstream has one, over objects one by one.
	Workers int
	// Log receives what goes wrong; nil discards it.
	Log *slog.Logger
}

// Controller gives and takes the finalizer of one Rule.
type Controller struct {
	pass    pass
	workers int
	log     *slog.Logger
}

// New returns a controller that is not running.
func New(r Rule, api API, o Options) *Controller {
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Controller{pass: pass{api: api, rule: r}, workers: o.Workers, log: o.Log.With("kind", r.protects.String())}
}

// Run works until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()

	told := make(chan news, 256)
	work := make(chan []Key, c.workers)
	results := make(chan result)
	all.Go(func() { c.follow(ctx, told) })
	for range c.workers {
		all.Go(func() { c.work(ctx, work, results) })
	}
	c.loop(ctx, told, work, results)
}

// news is what an event means for the schedule.
type news struct {
	// began: everything that is pending is to be looked at.
	began bool
	// key is pending or not; unless the news is of others.
	key     Key
	pending bool
	// released are no longer used by somebody.
	released []Key
}

// read turns an event into news; ok is false if nothing follows from it.
func (r Rule) read(e Event) (n news, ok bool) {
	switch e.Type {
	case Began:
		return news{began: true}, true
	case Protected:
		return news{key: e.Key, pending: e.New != nil && r.pending(e.New)}, true
	case User:
		n.released = released(e.Old, e.New)
	}
	return n, len(n.released) > 0
}

// follow keeps following, with a pause that grows while it fails.
func (c *Controller) follow(ctx context.Context, out chan<- news) {
	failures := 0
	for {
		err := c.pass.api.Follow(ctx, c.pass.rule.protects, c.pass.rule.users, func(e Event) {
			failures = 0
			if n, ok := c.pass.rule.read(e); ok {
				send(ctx, out, n)
			}
		})
		if ctx.Err() != nil {
			return
		}
		pause := double(minBackoff, failures, time.Minute)
		c.log.Warn("following storage objects", "err", err, "again", pause)
		failures++
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// result is what a worker reports: the outcomes in the order of the keys.
type result struct {
	keys     []Key
	outcomes []outcome
}

// work carries out passes, one at a time.
func (c *Controller) work(ctx context.Context, work <-chan []Key, results chan<- result) {
	for {
		select {
		case <-ctx.Done():
			return
		case keys := <-work:
			r := result{keys, c.pass.run(ctx, keys)}
			for i, o := range r.outcomes {
				if o.err != nil && ctx.Err() == nil && !apierrors.IsConflict(o.err) {
					c.log.Warn("protecting a storage object", "namespace", keys[i].Namespace, "name", keys[i].Name, "err", o.err)
				}
			}
			send(ctx, results, r)
		}
	}
}

// loop owns the schedule. work has room for as many passes as there are workers, so it never blocks.
func (c *Controller) loop(ctx context.Context, in <-chan news, work chan<- []Key, results <-chan result) {
	s := newSchedule()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for free := c.workers; ; {
		for free > 0 {
			keys := s.begin(time.Now())
			if keys == nil {
				break
			}
			work <- keys
			free--
		}
		if wait, ok := s.next(time.Now()); ok && free > 0 {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return
		case n := <-in:
			s.take(n, time.Now())
		case r := <-results:
			free++
			for i, key := range r.keys {
				s.end(key, r.outcomes[i], time.Now())
			}
		case <-timer.C:
		}
	}
}

// take takes news in.
func (s *schedule) take(n news, now time.Time) {
	switch {
	case n.began:
		s.wakeAll(now)
	case n.released != nil:
		for _, key := range n.released {
			s.wake(key, now)
		}
	default:
		s.observe(n.key, n.pending, now)
	}
}

func send[T any](ctx context.Context, to chan<- T, v T) {
	select {
	case <-ctx.Done():
	case to <- v:
	}
}
