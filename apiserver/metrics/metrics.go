package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage/past"
)

// Metrics have kube-apiserver's names where it has them, so that its dashboards work.
type Metrics struct {
	*series
	// ReadOnly and Mutating are the numbers of requests that are being served.
	ReadOnly, Mutating prometheus.Gauge
	// Panics counts panics of handlers, Corrupt reads of stored objects that can't be decoded.
	Panics, Corrupt prometheus.Counter
}

// New returns metrics that are registered with r.
func New(r prometheus.Registerer, types *resources.Types) *Metrics {
	labels := []string{"verb", "group", "version", "resource", "subresource", "scope"}
	tried := append(labels[:6:6], "dry_run")
	component := prometheus.Labels{"component": "apiserver"}
	v := vectors{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests by verb, resource, scope and HTTP code.", ConstLabels: component,
		}, append(tried[:7:7], "code")),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:        "apiserver_request_duration_seconds",
			Help:        "Response latency in seconds, from the arrival of a request to the end of its response.",
			Buckets:     []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60},
			ConstLabels: component,
		}, tried),
		sizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:        "apiserver_response_sizes",
			Help:        "Response sizes in bytes.",
			ConstLabels: component, Buckets: prometheus.ExponentialBuckets(1000, 10, 7),
		}, labels),
		watches: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests", Help: "Number of open watches.", ConstLabels: component,
		}, labels),
		watchEvents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_watch_events_total", Help: "Number of events sent to watches.",
		}, []string{"group", "version", "resource"}),
	}
	inFlight := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "apiserver_current_inflight_requests", Help: "Number of requests being served, except watches.",
	}, []string{"request_kind"})
	m := &Metrics{
		series:   newSeries(v, types),
		ReadOnly: inFlight.WithLabelValues("readOnly"), Mutating: inFlight.WithLabelValues("mutating"),
		Panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "apiserver_panics_total", Help: "Number of panics in handlers.",
		}),
		Corrupt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kubecascade_corrupt_objects_total",
			Help: "Number of times that a stored object could not be decoded.",
		}),
	}
	r.MustRegister(v.requests, v.durations, v.sizes, v.watches, v.watchEvents, inFlight, m.Panics, m.Corrupt)
	return m
}

// RegisterPast registers the metrics of lists at past revisions.
func RegisterPast(r prometheus.Registerer, p *past.Reader) {
	r.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "kubecascade_past_lists_held_bytes",
			Help: "Bytes of objects cached for lists at revisions older than the history in memory.",
		}, func() float64 { return float64(p.Held()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_past_lists_reads_total",
			Help: "Number of etcd reads for lists at revisions older than the history in memory.",
		}, func() float64 { return float64(p.Counts().Reads) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_past_lists_records_total",
			Help: "Number of objects that etcd returned for lists at revisions older than the history in memory.",
		}, func() float64 { return float64(p.Counts().Records) }),
	)
}

// RegisterMemory registers the metrics of the memory that requests hold.
func RegisterMemory(r prometheus.Registerer, b *budget.Budget, unread *pool.Pools, conns *connections.Table) {
	gauge := func(name, help string, value func() int64) prometheus.Collector {
		o := prometheus.GaugeOpts{Name: "kubecascade_inflight_memory_" + name, Help: help}
		return prometheus.NewGaugeFunc(o, func() float64 { return float64(value()) })
	}
	rejected := func(reason string, value func(budget.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "kubecascade_inflight_memory_rejected_total",
			Help:        "Number of requests rejected because of the memory limit, by reason.",
			ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(value(b.Counts())) })
	}
	r.MustRegister(
		gauge("limit_bytes", "Memory limit for processing requests, besides their bodies.", b.Total),
		gauge("held_bytes", "Estimated memory of the requests being served.", func() int64 { return b.Counts().Held }),
		gauge("waiting_requests", "Number of requests waiting for memory.", func() int64 { return b.Counts().Waiting }),
		gauge("unread_bytes",
			"Memory of open watches, of responses that clients have not read, and of long URLs and headers.", unread.Held),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_inflight_memory_cut_off_total",
			Help: "Number of watches and responses closed because clients left too much unread.",
		}, func() float64 { return float64(unread.CutOff()) }),
		gauge("connections_bytes",
			"Memory of connections and of the incomplete requests received on them.", func() int64 {
				bytes, _ := conns.Counts()
				return bytes
			}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_connections_closed_total",
			Help: "Number of connections closed because connections used too much memory.",
		}, func() float64 {
			_, closed := conns.Counts()
			return float64(closed)
		}),
		rejected("too-large", func(c budget.Counts) int64 { return c.TooLarge }),
		rejected("queue-full", func(c budget.Counts) int64 { return c.Full }),
		rejected("time-out", func(c budget.Counts) int64 { return c.Ended }),
	)
}

// Answered counts a response; non-resource requests are not counted.
func (m *Metrics) Answered(l exchange.Label, code, bytes int, took time.Duration) {
	if l.Verb == "" {
		return
	}
	found := m.of(answer{l, code})
	if found == nil {
		return
	}
	found.count.Inc()
	if found.took != nil {
		found.took.Observe(took.Seconds())
		found.bytes.Observe(float64(bytes))
	}
}

// Handler serves the metrics of g, and those of etcd and Go in the default registry.
func (m *Metrics) Handler(g prometheus.Gatherer) http.Handler {
	h := promhttp.HandlerFor(prometheus.Gatherers{g, prometheus.DefaultGatherer}, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.forget()
		h.ServeHTTP(w, r)
	})
}
