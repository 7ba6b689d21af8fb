package gc

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// The queues of upstream's collector (D-94). Here there is one queue for everything. A request is counted under the
// queue from which upstream's collector would send it. Waiting objects are counted under deleteQueue.
const (
	deleteQueue  = "garbage_collector_attempt_to_delete"
	orphanQueue  = "garbage_collector_attempt_to_orphan"
	changesQueue = "garbage_collector_graph_changes"
)

// pulseInterval is the interval at which the age of requests in flight is published.
const pulseInterval = 5 * time.Second

// metrics are the series of D-94. Those of work queues are shared with other components that register them.
type metrics struct {
	syncErrors          prometheus.Counter
	lines               *prometheus.GaugeVec
	adds, retries       *prometheus.CounterVec
	waited, worked      *prometheus.HistogramVec
	unfinished, longest *prometheus.GaugeVec
	deleteDepth         prometheus.Gauge
	queued              atomic.Int64
}

func newMetrics(r prometheus.Registerer) *metrics {
	name := []string{"name"}
	gauge := func(metric, help string) *prometheus.GaugeVec {
		opts := prometheus.GaugeOpts{Subsystem: "workqueue", Name: metric, Help: help}
		return register(r, prometheus.NewGaugeVec(opts, name))
	}
	counter := func(metric, help string) *prometheus.CounterVec {
		opts := prometheus.CounterOpts{Subsystem: "workqueue", Name: metric, Help: help}
		return register(r, prometheus.NewCounterVec(opts, name))
	}
	histogram := func(metric, help string) *prometheus.HistogramVec {
		opts := prometheus.HistogramOpts{Subsystem: "workqueue", Name: metric, Help: help,
			Buckets: prometheus.ExponentialBuckets(10e-9, 10, 12)}
		return register(r, prometheus.NewHistogramVec(opts, name))
	}
	m := &metrics{
		syncErrors: register(r, prometheus.NewCounter(prometheus.CounterOpts{
			Subsystem: "garbagecollector_controller", Name: "resources_sync_error_total",
			Help: "Number of garbage collector resources sync errors",
		})),
		lines:   gauge("depth", "Current depth of workqueue"),
		adds:    counter("adds_total", "Total number of adds handled by workqueue"),
		retries: counter("retries_total", "Total number of retries handled by workqueue"),
		waited: histogram(
			"queue_duration_seconds", "How long in seconds an item stays in workqueue before being requested.",
		),
		worked: histogram("work_duration_seconds", "How long in seconds processing an item from workqueue takes."),
		unfinished: gauge("unfinished_work_seconds", "How many seconds of work has done that is in progress and hasn't "+
			"been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck "+
			"threads by observing the rate at which this increases."),
		longest: gauge(
			"longest_running_processor_seconds",
			"How many seconds has the longest running processor for workqueue been running.",
		),
	}
	for _, q := range []string{deleteQueue, orphanQueue, changesQueue} {
		m.lines.WithLabelValues(q)
		m.adds.WithLabelValues(q)
		m.retries.WithLabelValues(q)
		m.unfinished.WithLabelValues(q)
		m.longest.WithLabelValues(q)
	}
	m.deleteDepth = m.lines.WithLabelValues(deleteQueue)
	return m
}

// register registers a collector, or returns the one that is already registered.
func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	if r == nil {
		return c
	}
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](r.Register(c)); ok {
		if old, ok := there.ExistingCollector.(C); ok {
			return old
		}
	}
	return c
}

// depth publishes the number of queued objects.
func (m *metrics) depth(s graph.Stats) {
	m.queued.Store(int64(s.Ready))
	m.deleteDepth.Set(float64(s.Ready))
}

// read counts events taken from the timeline.
func (m *metrics) read(events int, took time.Duration) {
	m.adds.WithLabelValues(changesQueue).Add(float64(events))
	m.worked.WithLabelValues(changesQueue).Observe(took.Seconds())
}

// request counts a request that was queued at r.since, and executed from begun to ended.
func (m *metrics) request(r request, begun, ended time.Time) {
	m.adds.WithLabelValues(r.queue).Inc()
	m.waited.WithLabelValues(r.queue).Observe(begun.Sub(r.since).Seconds())
	m.worked.WithLabelValues(r.queue).Observe(ended.Sub(begun).Seconds())
}

// pulse publishes the age of the requests in flight.
func (m *metrics) pulse(underWay map[graph.Ticket]request, now time.Time) {
	sum, longest := map[string]float64{}, map[string]float64{}
	for _, r := range underWay {
		age := now.Sub(r.since).Seconds()
		sum[r.queue] += age
		longest[r.queue] = max(longest[r.queue], age)
	}
	for _, q := range []string{deleteQueue, orphanQueue} {
		m.unfinished.WithLabelValues(q).Set(sum[q])
		m.longest.WithLabelValues(q).Set(longest[q])
	}
}
