package flowcontrol

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics have Kubernetes' names (AS pkg/util/flowcontrol/metrics/metrics.go). The series of deleted objects are
// removed.
type metrics struct {
	nominal, executing   *prometheus.GaugeVec
	dispatched, rejected *prometheus.CounterVec
	waited               *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	level, both := []string{"priority_level"}, []string{"priority_level", "flow_schema"}
	gauge := func(name, help string, labels []string) *prometheus.GaugeVec {
		return f.NewGaugeVec(prometheus.GaugeOpts{Name: "apiserver_flowcontrol_" + name, Help: help}, labels)
	}
	return &metrics{
		nominal:   gauge("nominal_limit_seats", "Nominal number of seats of a priority level, by its shares.", level),
		executing: gauge("current_executing_requests", "Number of requests being served.", both),
		dispatched: f.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_flowcontrol_dispatched_requests_total", Help: "Number of requests that were dispatched.",
		}, both),
		rejected: f.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_flowcontrol_rejected_requests_total", Help: "Number of requests that were rejected.",
		}, append(both, "reason")),
		waited: f.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_flowcontrol_request_wait_duration_seconds",
			Help:    "Time in seconds that requests waited for their seats.",
			Buckets: []float64{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30},
		}, both),
	}
}

// series are the metrics of a schema and its level. When the objects are deleted, the series are unregistered, but
// requests in flight can still use them.
type series struct {
	dispatched prometheus.Counter
	waited     prometheus.Observer
	executing  prometheus.Gauge
}

func (m *metrics) series(level, schema string) *series {
	return &series{
		dispatched: m.dispatched.WithLabelValues(level, schema),
		waited:     m.waited.WithLabelValues(level, schema),
		executing:  m.executing.WithLabelValues(level, schema),
	}
}

// started counts a request that has got its seats. The caller decrements executing when the request ends.
func (s *series) started(waited time.Duration) {
	s.dispatched.Inc()
	s.waited.Observe(waited.Seconds())
	s.executing.Inc()
}

// forget removes the series of objects that are not in the new configuration.
func (m *metrics) forget(old, next *config) {
	if old == nil {
		return
	}
	for name := range old.levels {
		if next.levels[name] == nil {
			m.remove(prometheus.Labels{"priority_level": name})
		}
	}
	for _, s := range old.schemas {
		if level := s.Spec.PriorityLevelConfiguration.Name; next.series[key{level, s.Name}] == nil {
			m.remove(prometheus.Labels{"priority_level": level, "flow_schema": s.Name})
		}
	}
}

func (m *metrics) remove(labels prometheus.Labels) {
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{m.nominal, m.executing, m.dispatched, m.rejected, m.waited} {
		v.DeletePartialMatch(labels)
	}
}

// RegisterMemory registers the metrics of the memory that requests and the cache's encodings hold.
func RegisterMemory(r prometheus.Registerer, inFlight, memory *Budget, encodings func() int64) {
	for name, of := range map[string]struct {
		help  string
		value func() int64
	}{
		"inflight_memory_limit_bytes": {
			"Memory limit of requests being served. Open requests have a separate limit of the same size.", memory.Total},
		"inflight_memory_held_bytes": {"Estimated memory of the requests being served.", memory.Held},
		"inflight_memory_open_bytes": {"Estimated memory of open requests and watches.", inFlight.Held},
		"cache_encodings_bytes": {
			"Memory of cached encodings of events, and of objects in formats other than JSON.", encodings},
	} {
		r.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "kubecascade_" + name, Help: of.help},
			func() float64 { return float64(of.value()) },
		))
	}
}
