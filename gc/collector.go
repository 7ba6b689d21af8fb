package gc

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Config is the configuration of a collector. API, Timeline and Kinds are required.
type Config struct {
	API      API
	Timeline Timeline
	Kinds    Kinds
	// Workers is the number of concurrent requests (--concurrent-gc-syncs); 0 means 64. Upstream's default is 20, with
	// a client that is limited to 20 requests a second.
	Workers int
	// Root is the prefix of all keys; empty means storage.DefaultRoot.
	Root string
	// Timeout is the timeout of one request; 0 means 30 s, less than the server's own limit (0-13).
	Timeout time.Duration
	// Elsewhere looks owners up on the other servers, and returns those that do not exist. It is called every 30 s with
	// the owners that the graph does not have. nil if there are no other servers.
	Elsewhere func(context.Context, []graph.Elsewhere) (absent []graph.Elsewhere)
	// Follow sends the kinds of other servers (graph.Kinds, without those of Kinds) and the changes of their objects,
	// until the context is done. Before it sends an object, the timeline has reached the revision that the store had
	// when the object was read. nil if there are no other servers.
	Follow func(ctx context.Context, send func(graph.Event))
	// Lag is the time for which the collector waits until the timeline shows the effect of a request, before it decides
	// again; 0 means 30 s.
	Lag time.Duration
	// Events stores an Event for each object that the collector deletes.
	Events bool
	// Registerer registers the metrics (D-94); nil for none.
	Registerer prometheus.Registerer
	// Log receives errors and warnings; nil for none.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Workers <= 0 {
		c.Workers = 64
	}
	c.Root = cmp.Or(c.Root, storage.DefaultRoot)
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Lag <= 0 {
		c.Lag = 30 * time.Second
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

// Collector is the garbage collector. Run may be called once.
type Collector struct {
	config   Config
	metrics  *metrics
	executor *executor
	// recorder stores the Events about references, and executor.recorder those about collected objects.
	recorder *recorder
	questions
	// started and stopped are closed when Run begins and ends.
	started, stopped chan struct{}

	// The fields below belong to the goroutine of Run.

	// waiting has the unanswered requests of Idle.
	waiting []idleRequest
	// activity counts actions and the answers to requests.
	activity uint64
	graph    *graph.Graph
	queue    queue
	// underWay has the requests that were sent and not yet answered.
	underWay map[graph.Ticket]request
	// backOffLog limits how often retries with a back-off are logged.
	backOffLog rate.Sometimes
	// took is the duration of a failed request while the graph processes the failure; else 0.
	took time.Duration
	// broken has the objects that can't be decoded and were logged, at most mostBroken.
	broken map[graph.Key]struct{}
}

// questions connects the goroutine of Run with other goroutines.
type questions struct {
	// asks has functions that Run calls in its goroutine, with its context.
	asks chan func(context.Context)
	// looks counts the goroutines that read from other servers.
	looks sync.WaitGroup
}

// New returns a collector, which Run starts.
func New(c Config) *Collector {
	c = c.withDefaults()
	m := newMetrics(c.Registerer)
	return &Collector{
		config: c, metrics: m,
		executor:   newExecutor(c, m),
		recorder:   newRecorder(c.API, maxReports, c.Timeout, c.Log),
		questions:  questions{asks: make(chan func(context.Context))},
		started:    make(chan struct{}),
		stopped:    make(chan struct{}),
		underWay:   map[graph.Ticket]request{},
		backOffLog: rate.Sometimes{First: 10, Interval: 10 * time.Second},
		broken:     map[graph.Key]struct{}{},
	}
}

// ErrStopped reports that Run has returned.
var ErrStopped = errors.New("the garbage collector has stopped")

const (
	// retryLoad is the pause before everything is loaded again after an error other than expired history.
	retryLoad = time.Second
	// lookInterval is the interval of look-ups of owners on other servers.
	lookInterval = 30 * time.Second
)

// Run collects until ctx is done, and returns its error when all workers have returned. It may be called once.
func (c *Collector) Run(ctx context.Context) error {
	defer reconcile.Join(ctx, c)()
	close(c.started)
	defer close(c.stopped)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer c.looks.Wait()
	c.executor.spawn = func() { workers.Go(func() { c.executor.work(ctx) }) }
	workers.Go(func() { c.recorder.run(ctx) })
	if r := c.executor.recorder; r != nil {
		workers.Go(func() { r.run(ctx) })
	}
	select {
	case <-c.config.Timeline.Ready():
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		err := c.follow(ctx)
		if ctx.Err() != nil {
			break
		}
		c.metrics.syncErrors.Inc()
		c.config.Log.Warn("the garbage collector reloads all objects", "err", err)
		if !errors.Is(err, cache.ErrExpired) { // the error may last
			select {
			case <-time.After(retryLoad):
			case <-ctx.Done():
			}
		}
	}
	return ctx.Err()
}

// Queued returns the number of objects that wait for a decision. It may be called from any goroutine.
func (c *Collector) Queued() int { return int(c.metrics.queued.Load()) }

// follow loads everything and then processes events, until ctx is done or history has expired.
func (c *Collector) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.awaitAnswers(ctx)
	f := &feed{timeline: c.config.Timeline, kinds: c.config.Kinds}
	if err := c.load(ctx, f); err != nil {
		return err
	}
	c.followOthers(ctx, f)
	overdue := time.NewTicker(c.config.Lag)
	defer overdue.Stop()
	elsewhere := time.NewTicker(lookInterval)
	defer elsewhere.Stop()
	absent := c.look(ctx)
	pulse := time.NewTicker(pulseInterval)
	defer pulse.Stop()
	for {
		c.metrics.depth(c.graph.Stats())
		c.answerIdle(f.watcher)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case r := <-c.executor.results:
			c.answer(ctx, r)
		case <-f.watcher.Changed():
			if err := c.read(ctx, f); err != nil {
				return err
			}
		case <-f.changed:
			if err := c.read(ctx, f); err != nil {
				return err
			}
		case <-c.queue.wait():
			for _, t := range c.queue.due(time.Now()) {
				c.step(ctx, graph.Due{Ticket: t})
			}
		case <-overdue.C:
			c.step(ctx, graph.Overdue{})
		case <-elsewhere.C:
			if absent == nil { // the last look-up has ended
				absent = c.look(ctx)
			}
		case gone := <-absent:
			absent = nil
			for _, o := range gone {
				c.step(ctx, graph.Absent{Owner: o})
			}
		case <-pulse.C:
			c.metrics.pulse(c.underWay, time.Now())
		case f := <-c.asks:
			f(ctx)
		}
	}
}

// awaitAnswers waits for the answers to the requests of an earlier graph, so that no more than Config.Workers requests
// are ever in flight.
func (c *Collector) awaitAnswers(ctx context.Context) {
	c.queue.clear()
	for len(c.underWay) > 0 && ctx.Err() == nil {
		select {
		case r := <-c.executor.results:
			delete(c.underWay, r.Ticket)
		case <-ctx.Done():
		}
	}
}

// read processes the pending events of the timeline, after the table of kinds if that has changed.
func (c *Collector) read(ctx context.Context, f *feed) error {
	table, events, err := f.next()
	if err != nil {
		return err
	}
	if table != nil {
		c.step(ctx, *table)
	}
	start := time.Now()
	for _, e := range events {
		if e.Type == cache.Deleted {
			delete(c.broken, c.key(e.Collection, e.Object.Key))
			c.step(ctx, graph.Gone{Key: c.key(e.Collection, e.Object.Key)})
		} else if o, ok := c.object(e.Collection, e.Object); ok {
			c.step(ctx, graph.Observed{Object: o})
		}
	}
	c.metrics.read(len(events), time.Since(start))
	return nil
}

// answer processes the result of a request.
func (c *Collector) answer(ctx context.Context, r graph.Result) {
	if r.Outcome == graph.Failed {
		c.took = time.Since(c.underWay[r.Ticket].since)
	}
	delete(c.underWay, r.Ticket)
	c.activity++
	c.step(ctx, r)
	c.took = 0
}

// noteDelay is the shortest back-off that is logged. backOffLog limits the number of log lines.
const noteDelay = 10 * time.Second

// retry queues the ticket for the duration of the back-off.
func (c *Collector) retry(a graph.Retry) {
	c.metrics.retries.WithLabelValues(deleteQueue).Inc()
	d := delay(a.Attempt, c.took)
	c.queue.add(a, time.Now().Add(d))
	if d >= noteDelay {
		c.backOffLog.Do(func() {
			c.config.Log.Warn("the garbage collector retries an object later",
				"object", a.Object.String(), "attempt", a.Attempt,
				"lastRequestTook", c.took.Round(time.Millisecond), "retryIn", d.Round(time.Second))
		})
	}
}

// step passes the event to the graph, and starts the resulting actions.
func (c *Collector) step(ctx context.Context, e graph.Event) {
	for _, a := range c.graph.Step(e) {
		c.activity++
		switch a := a.(type) {
		case graph.Report:
			c.recorder.record(foreign(a))
		case graph.Retry:
			c.retry(a)
		case graph.Forget:
			c.queue.remove(a.Ticket)
		default:
			r := c.executor.requestOf(a)
			c.underWay[r.ticket] = r
			c.executor.dispatch(ctx, r, len(c.underWay))
		}
	}
}
