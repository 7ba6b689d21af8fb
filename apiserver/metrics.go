package apiserver

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage/past"
)

// metrics carry kube-apiserver's own names where it has them, so that its dashboards work.
type metrics struct {
	*series
	inFlight *prometheus.GaugeVec
	panics   prometheus.Counter
	corrupt  prometheus.Counter
}

func newMetrics(r prometheus.Registerer, types *resources.Types) *metrics {
	labels := []string{"verb", "group", "version", "resource", "subresource", "scope"}
	tried := append(labels[:6:6], "dry_run")
	component := prometheus.Labels{"component": "apiserver"}
	v := vectors{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests by verb, resource, scope and HTTP code.", ConstLabels: component,
		}, append(tried[:7:7], "code")),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_request_duration_seconds", Help: "Seconds from the arrival of a request to the end of its answer.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}, ConstLabels: component,
		}, tried),
		sizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_response_sizes", Help: "Bytes of answers.", ConstLabels: component, Buckets: prometheus.ExponentialBuckets(1000, 10, 7),
		}, labels),
		watches: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests", Help: "Watches that are open.", ConstLabels: component,
		}, labels),
		watchEvents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_watch_events_total", Help: "Events sent to watchers.",
		}, []string{"group", "version", "resource"}),
	}
	m := &metrics{
		series: newSeries(v, types),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_current_inflight_requests", Help: "Requests being served, watches aside.",
		}, []string{"request_kind"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "apiserver_panics_total", Help: "Handlers that panicked.",
		}),
		corrupt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kubecascade_corrupt_objects_total", Help: "Times that a stored value could not be read.",
		}),
	}
	r.MustRegister(v.requests, v.durations, v.sizes, v.watches, v.watchEvents, m.inFlight, m.panics, m.corrupt)
	return m
}

// pastMetrics shows what lists at past revisions ask of etcd and hold.
func pastMetrics(r prometheus.Registerer, p *past.Reader) {
	r.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "kubecascade_past_lists_held_bytes", Help: "Memory of the objects that are kept for lists at revisions older than the cache's history.",
		}, func() float64 { return float64(p.Held()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_past_lists_reads_total", Help: "Reads from etcd for lists at revisions older than the cache's history.",
		}, func() float64 { return float64(p.Counts().Reads) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_past_lists_records_total", Help: "Objects that these reads returned.",
		}, func() float64 { return float64(p.Counts().Records) }),
	)
}

// memoryMetrics shows what requests hold of the memory that there is for them.
func memoryMetrics(r prometheus.Registerer, b *budget.Budget, unread *pools, conns *connections.Table) {
	gauge := func(name, help string, value func() int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kubecascade_inflight_memory_" + name, Help: help}, func() float64 { return float64(value()) })
	}
	rejected := func(reason string, value func(budget.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_inflight_memory_rejected_total", Help: "Requests for which there was no memory.",
			ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(value(b.Counts())) })
	}
	r.MustRegister(
		gauge("limit_bytes", "Memory that requests may take, besides their bodies.", b.Total),
		gauge("held_bytes", "Memory that requests may take which are being served, as estimated.", func() int64 { return b.Counts().Held }),
		gauge("waiting_requests", "Requests that wait for memory.", func() int64 { return b.Counts().Waiting }),
		gauge("unread_bytes", "Memory of open watches, of answers that clients leave unread, and of long URLs and headers.", unread.held),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_inflight_memory_cut_off_total", Help: "Answers that were cut off, as too much was left unread.",
		}, func() float64 { return float64(unread.cutOff()) }),
		gauge("connections_bytes", "Memory of connections, with parts of requests that have come on them.", func() int64 {
			bytes, _ := conns.Counts()
			return bytes
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "kubecascade_connections_closed_total", Help: "Connections that were closed, as there were too many.",
		}, func() float64 {
			_, closed := conns.Counts()
			return float64(closed)
		}),
		rejected("too-large", func(c budget.Counts) int64 { return c.TooLarge }),
		rejected("queue-full", func(c budget.Counts) int64 { return c.Full }),
		rejected("time-out", func(c budget.Counts) int64 { return c.Ended }),
	)
}

// request counts a request that has been answered; what isn't about a resource isn't counted.
func (m *metrics) request(rec *recorder, took time.Duration) {
	l := rec.label
	if l.verb == "" {
		return
	}
	found := m.of(answer{l, rec.code})
	if found == nil {
		return
	}
	found.count.Inc()
	if found.took != nil {
		found.took.Observe(took.Seconds())
		found.bytes.Observe(float64(rec.bytes))
	}
}

// metricsHandler serves this server's registry and etcd's and Go's, which live in the default one.
func (s *Server) metricsHandler() http.Handler {
	h := promhttp.HandlerFor(prometheus.Gatherers{s.config.Registry, prometheus.DefaultGatherer}, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.metrics.forget()
		h.ServeHTTP(w, r)
	})
}
