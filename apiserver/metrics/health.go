package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Health counts the results of health checks, which /metrics/slis serves separately from other metrics. (The metrics of
// component-base, metrics/prometheus/slis, are those of the process, not of a server.)
type Health struct {
	registry *prometheus.Registry
	last     *prometheus.GaugeVec
	total    *prometheus.CounterVec
}

// NewHealth returns a Health without results.
func NewHealth() *Health {
	h := &Health{
		registry: prometheus.NewRegistry(),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubernetes_healthcheck", Help: "1 if the last run of a health check succeeded, else 0.",
		}, []string{"name", "type"}),
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubernetes_healthchecks_total", Help: "Number of runs of health checks, by their results.",
		}, []string{"name", "type", "status"}),
	}
	h.registry.MustRegister(h.last, h.total)
	return h
}

// Observe counts a run of a check by an endpoint, such as readyz.
func (h *Health) Observe(check, endpoint string, err error) {
	value, status := 1., "success"
	if err != nil {
		value, status = 0, "error"
	}
	h.last.WithLabelValues(check, endpoint).Set(value)
	h.total.WithLabelValues(check, endpoint, status).Inc()
}

// Handler serves the results to Prometheus.
func (h *Health) Handler() http.Handler {
	return promhttp.HandlerFor(h.registry, promhttp.HandlerOpts{})
}
