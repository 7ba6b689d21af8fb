package quota

import (
	"context"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Options configure a controller. Zero values mean the defaults.
type Options struct {
	// Workers is how many namespaces are counted at once (default 5, as --concurrent-resource-quota-syncs).
	Workers int
	// Log receives what goes wrong; nil discards it.
	Log *slog.Logger
}

// Controller keeps the status of resource quotas.
type Controller struct {
	pass    pass
	workers int
	log     *slog.Logger
}

// New returns a controller that is not running.
func New(api API, o Options) *Controller {
	if o.Workers <= 0 {
		o.Workers = 5
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Controller{pass: pass{api: api, now: time.Now}, workers: o.Workers, log: o.Log}
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
	all.Go(func() { c.follow(ctx, func(e Event) { send(ctx, events, e) }) })
	for range c.workers {
		all.Go(func() { c.work(ctx, work, results) })
	}
	loop(ctx, events, work, results)
}

// result is what a worker reports.
type result struct {
	name string
	err  error
}

// work carries out passes, one at a time. Conflicts are everyday: somebody was charged meanwhile.
func (c *Controller) work(ctx context.Context, work <-chan string, results chan<- result) {
	for {
		select {
		case <-ctx.Done():
			return
		case name := <-work:
			err := c.pass.run(ctx, name)
			if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
				c.log.Warn("counting what a namespace uses", "namespace", name, "err", err)
			}
			send(ctx, results, result{name, err})
		}
	}
}

// loop owns the schedule.
func loop(ctx context.Context, events <-chan Event, work chan<- string, results <-chan result) {
	s := newSchedule()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
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
			s.end(r.name, r.err, time.Now())
		case <-timer.C:
		}
	}
}

// follow keeps following, with a pause that grows while it fails.
func (c *Controller) follow(ctx context.Context, sink func(Event)) {
	for failures := 0; ; failures++ {
		err := c.pass.api.Follow(ctx, func(e Event) {
			failures = 0
			sink(e)
		})
		if ctx.Err() != nil {
			return
		}
		c.log.Warn("following resource quotas", "err", err)
		timer := time.NewTimer(double(minBackoff, failures, maxBackoff))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

func send[T any](ctx context.Context, to chan<- T, v T) {
	select {
	case <-ctx.Done():
	case to <- v:
	}
}
