package flowcontrol

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/types"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/eventclock"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset"
	fcmetrics "k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	fcrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// maxWidth is the maximum number of seats of one request. objectsPerSeat is the number of listed objects for one seat
// (AS pkg/util/flowcontrol/request/config.go).
const maxWidth, objectsPerSeat = 10, 100

// MaxObjects is the number of listed objects for which a request takes the maximum number of seats.
const MaxObjects = maxWidth * objectsPerSeat

// Controller assigns seats to requests.
type Controller struct {
	seats   int
	wait    time.Duration
	clock   eventclock.Interface
	metrics *metrics

	// exempt is the number of requests of the level exempt that are being served.
	exempt atomic.Int64
	// mu guards the fields below. Requests take the read lock, changes the write lock.
	mu     sync.RWMutex
	config *config
	queues map[string]*queues
}

// queues has the queues of a level.
type queues struct {
	fq.QueueSet
	// shares give each user half of the level's seats. seats is the number of the level's seats.
	shares *Shares
	seats  int
}

// New returns a controller with a number of seats. wait is the maximum time for which requests wait. Kubernetes'
// suggested objects apply only if they are passed to Set. r registers the metrics, and may be nil.
func New(seats int, wait time.Duration, r prometheus.Registerer) *Controller {
	c := &Controller{seats: seats, wait: wait, clock: eventclock.Real{}, metrics: newMetrics(r)}
	c.queues = map[string]*queues{}
	c.Set(nil, nil)
	return c
}

// Set applies the objects. Requests that wait or are being served stay in their queues. Those of a removed level are
// still served. If the level is created again before they end, it keeps its queues.
func (c *Controller) Set(schemas []*flowcontrolv1.FlowSchema, levels []*flowcontrolv1.PriorityLevelConfiguration) {
	next := newConfig(schemas, levels, c.seats)
	c.mu.Lock()
	defer c.mu.Unlock()
	next.series = map[key]*series{}
	for _, s := range next.schemas {
		at := key{s.Spec.PriorityLevelConfiguration.Name, s.Name}
		next.series[at] = c.metrics.series(at.level, at.schema)
	}
	c.metrics.forget(c.config, next)
	c.config = next
	maps.DeleteFunc(c.queues, func(name string, q *queues) bool { return next.levels[name] == nil && q.IsIdle() })
	for _, l := range next.levels {
		c.resize(l)
	}
}

// resize sets the number of a level's seats, and creates its queues if it has none.
func (c *Controller) resize(l *level) {
	name := l.object.Name
	q := c.queues[name]
	var next fq.QueueSetCompleter
	var err error
	if q == nil {
		q = &queues{}
		pair := fcmetrics.RatioedGaugePair{RequestsWaiting: gauge{}, RequestsExecuting: gauge{}}
		next, err = queueset.NewQueueSetFactory(c.clock).BeginConstruction(l.queuing, pair, gauge{}, gauge{})
	} else {
		next, err = q.BeginConfigChange(l.queuing)
	}
	if err != nil { // invalid queues, which only another program can store: the level has none
		l.queuing = fq.QueuingConfig{Name: name}
		c.resize(l)
		return
	}
	c.metrics.nominal.WithLabelValues(name).Set(float64(l.seats))
	if q.shares == nil || q.seats != l.seats || q.shares.maxRequests != l.waiting() { // open requests keep the old
		q.shares, q.seats = NewShares(max(1, int64(l.seats)/2), l.waiting()), l.seats
	}
	set := next.Complete(fq.DispatchingConfig{ConcurrencyLimit: l.seats, ConcurrencyDenominator: max(l.seats, 1)})
	if q.QueueSet == nil { // otherwise it is unchanged: requests read it without the lock
		q.QueueSet = set
		c.queues[name] = q
	}
}

// gauge implements k8s.io/apiserver's interface of gauges. Nothing reads the values.
type gauge struct{}

func (gauge) Set(float64)            {}
func (gauge) Add(float64)            {}
func (gauge) Inc()                   {}
func (gauge) Dec()                   {}
func (gauge) SetToCurrentTime()      {}
func (gauge) SetDenominator(float64) {}

// Class is the result of a request's classification. UIDs are empty for objects that aren't stored.
type Class struct {
	Schema, Level       string
	SchemaUID, LevelUID types.UID
}

// Request is a request for seats.
type Request struct {
	*authorization.Attributes
	// Objects returns the number of objects that the request may list.
	Objects func() int
}

// Handle calls serve when the request has its seats, and returns after it. Before it waits for the seats, it calls
// classified. It returns false if the request is rejected without a call of serve.
func (c *Controller) Handle(ctx context.Context, r Request, classified func(Class), serve func()) bool {
	t := c.classify(r.Attributes)
	classified(t.class)
	if t.level.exempt {
		return c.serveExempt(t, r, serve)
	}
	start := c.clock.Now()
	ctx, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	width := min(max(1, (r.Objects()+objectsPerSeat-1)/objectsPerSeat), t.level.widest())
	served, why := false, "queue-full"
	release, err := t.share(ctx, r.User.Name, width)
	if err != nil {
		if !errors.Is(err, status.ErrFull) {
			why = "time-out"
		}
		c.reject(t, why)
		return false
	}
	defer release()
	if inQueue := t.enqueue(ctx, r.Attributes, width); inQueue != nil {
		inQueue.Finish(func() {
			served = true
			t.series.started(c.clock.Since(start))
			defer t.series.executing.Dec()
			serve()
		})
		why = "time-out"
	}
	if !served {
		c.reject(t, why)
	}
	return served
}

// reject counts a rejected request, unless its schema was removed.
func (c *Controller) reject(t *ticket, why string) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.config.series[key{t.class.Level, t.class.Schema}] != nil {
		c.metrics.rejected.WithLabelValues(t.class.Level, t.class.Schema, why).Inc()
	}
}

// serveExempt serves a request of the level exempt immediately, unless the number of such requests exceeds the seats.
// It always serves watches and non-resource requests, so that users can inspect a server under full load.
func (c *Controller) serveExempt(t *ticket, r Request, serve func()) bool {
	if r.IsResource && r.Verb != "watch" {
		defer c.exempt.Add(-1)
		if c.exempt.Add(1) > int64(c.seats) {
			c.reject(t, "concurrency-limit")
			return false
		}
	}
	t.series.started(0)
	defer t.series.executing.Dec()
	serve()
	return true
}

// ticket is the classification of a request, with the queues of its level.
type ticket struct {
	class  Class
	level  *level
	queues *queues
	shares *Shares
	series *series
	flow   string
}

func (c *Controller) classify(a *authorization.Attributes) *ticket {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, l, flow := c.config.classify(a)
	class := Class{s.Name, l.object.Name, s.UID, l.object.UID}
	q := c.queues[class.Level]
	return &ticket{class, l, q, q.shares, c.config.series[key{class.Level, class.Schema}], flow}
}

// share acquires a part of the user's share of the level. For a level without queues it does not wait.
func (t *ticket) share(ctx context.Context, user string, width int) (release func(), err error) {
	if t.level.queuing.DesiredNumQueues > 0 {
		return t.shares.Acquire(ctx, user, int64(width))
	}
	release, ok := t.shares.Try(user, int64(width))
	if !ok {
		return nil, status.ErrFull
	}
	return release, nil
}

// enqueue adds a request to its queue. It returns nil if the queue is full.
func (t *ticket) enqueue(ctx context.Context, a *authorization.Attributes, width int) fq.Request {
	r, _ := t.queues.StartRequest(ctx, &fcrequest.WorkEstimate{InitialSeats: uint64(width)},
		hashOf(t.class.Schema, t.flow), t.flow, t.class.Schema, a.Path, a.User.Name, func(bool) {})
	return r
}

// hashOf returns the hash that selects the queues of a flow (AS pkg/util/flowcontrol/apf_controller.go: hashFlowID).
func hashOf(schema, flow string) uint64 {
	h := sha256.New()
	_, _ = io.WriteString(h, schema+"\x00"+flow) // a hash never fails
	return binary.LittleEndian.Uint64(h.Sum(nil))
}
