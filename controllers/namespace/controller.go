package namespace

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a controller. Zero values mean the defaults.
type Options struct {
	// Workers is how many namespaces are worked on at once (default 10, E-07).
	Workers int
	// Log receives what goes wrong; nil discards it.
	Log *slog.Logger
}

// Controller empties namespaces that are being deleted.
type Controller struct {
	pass    pass
	workers int
	// deleting is how many namespaces the schedule knows. While it is 0, changes of content, which
	// are most of what Follow tells, go no further.
	deleting atomic.Int64
}

// New returns a controller that is not running.
func New(api API, o Options) *Controller {
	if o.Workers <= 0 {
		o.Workers = 10
	}
	return &Controller{pass: pass{api: api, log: logger(o.Log), now: time.Now}, workers: o.Workers}
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// Run works until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()

	events := make(chan Event, 256)
	work := make(chan string)
	results := make(chan result)
	all.Go(func() {
		follow(ctx, c.pass.api, c.pass.log, func(e Event) {
			if e.Type == Content && c.deleting.Load() == 0 {
				return
			}
			send(ctx, events, e)
		})
	})
	for range c.workers {
		all.Go(func() { c.work(ctx, work, results) })
	}
	c.loop(ctx, events, work, results)
}

// result is what a worker reports.
type result struct {
	name string
	outcome
}

// work carries out passes, one at a time.
func (c *Controller) work(ctx context.Context, work <-chan string, results chan<- result) {
	for {
		select {
		case <-ctx.Done():
			return
		case name := <-work:
			o := c.pass.run(ctx, name)
			if o.err != nil && ctx.Err() == nil {
				c.pass.log.Warn("deleting the content of a namespace", "namespace", name, "left", o.left, "err", o.err)
			}
			send(ctx, results, result{name, o})
		}
	}
}

// loop owns the schedule.
func (c *Controller) loop(ctx context.Context, events <-chan Event, work chan<- string, results <-chan result) {
	s := newSchedule()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		c.deleting.Store(int64(len(s.entries)))
		name, wait, ok := s.next(time.Now())
		var out chan<- string
		if name != "" {
			out = work
		} else if ok {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			s.observe(e, time.Now())
		case out <- name:
			s.begin(name)
		case r := <-results:
			s.end(r.name, r.outcome, time.Now())
		case <-timer.C:
		}
	}
}

// follow keeps following, with a pause that grows while it fails (E-07's).
func follow(ctx context.Context, f Follower, log *slog.Logger, sink func(Event)) {
	failures := 0
	for {
		err := f.Follow(ctx, func(e Event) {
			failures = 0
			sink(e)
		})
		if ctx.Err() != nil {
			return
		}
		log.Warn("following namespaces", "err", err)
		if !sleep(ctx, double(minBackoff, failures, maxBackoff)) {
			return
		}
		failures++
	}
}

// sleep waits; false means that ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func send[T any](ctx context.Context, to chan<- T, v T) {
	select {
	case <-ctx.Done():
	case to <- v:
	}
}
