package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Metrics are the metrics of an API server. If kube-apiserver has one, too, it has the same name, for dashboards.
type Metrics struct {
	*series
	// readOnly and mutating are the numbers of requests being served, except watches.
	readOnly, mutating prometheus.Gauge
	// Panics counts panics of handlers. Corrupt counts reads of stored objects that can't be decoded.
	Panics, Corrupt prometheus.Counter
	// Faults counts injected faults by effect.
	Faults *prometheus.CounterVec
	// Health has the results of health checks.
	Health *Health
}

// New returns metrics that are registered with r.
func New(r prometheus.Registerer, types *resources.Types) *Metrics {
	labels := []string{"verb", "group", "version", "resource", "subresource", "scope"}
	withDryRun := append(labels[:6:6], "dry_run")
	component := prometheus.Labels{"component": "apiserver"}
	v := vectors{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests by verb, resource, scope and HTTP code.",
			ConstLabels: component,
		}, append(withDryRun[:7:7], "code")),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:        "apiserver_request_duration_seconds",
			Help:        "Response latency in seconds, from the arrival of a request to the end of its response.",
			Buckets:     []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60},
			ConstLabels: component,
		}, withDryRun),
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
		series: &series{vectors: v, types: types}, Health: NewHealth(),
		readOnly: inFlight.WithLabelValues("readOnly"), mutating: inFlight.WithLabelValues("mutating"),
		Panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "apiserver_panics_total", Help: "Number of panics in handlers.",
		}),
		Corrupt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kubecascade_corrupt_objects_total",
			Help: "Number of times that a stored object could not be decoded.",
		}),
		Faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubecascade_injected_faults_total", Help: "Number of injected faults by effect.",
		}, []string{"effect"}),
	}
	r.MustRegister(v.requests, v.durations, v.sizes, v.watches, v.watchEvents, inFlight, m.Panics, m.Corrupt, m.Faults)
	return m
}

// Serving returns a handler that counts the requests of a verb while next serves them. It does not count watches.
func (m *Metrics) Serving(verb string, next http.Handler) http.Handler {
	serving := m.mutating
	switch verb {
	case "watch":
		return next
	case "get", "list":
		serving = m.readOnly
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serving.Inc()
		defer serving.Dec()
		next.ServeHTTP(w, r)
	})
}

// Answered counts a response. It does not count non-resource requests.
func (m *Metrics) Answered(l Label, code, bytes int, took time.Duration) {
	if l.Verb == "" {
		return
	}
	defer m.mu.RUnlock()
	if !m.serves(l.ResourceOf()) {
		return
	}
	m.requests.WithLabelValues(append(l.Tried(), strconv.Itoa(code))...).Inc()
	if l.Verb != "WATCH" {
		m.durations.WithLabelValues(l.Tried()...).Observe(took.Seconds())
		m.sizes.WithLabelValues(l.Scoped()...).Observe(float64(bytes))
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
