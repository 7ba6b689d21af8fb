package dynamic

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// policyMetrics count the decisions of policies, with upstream's names (M-72; ASP validating/metrics,
// mutating/metrics).
type policyMetrics struct{ validating, mutating checks }

// checks are the metrics of one type of policies.
type checks struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// newPolicyMetrics returns metrics and registers them with r, unless r is nil.
func newPolicyMetrics(r prometheus.Registerer) *policyMetrics {
	labels := []string{"policy", "policy_binding", "error_type"}
	return &policyMetrics{
		validating: newChecks(r, "validating", "validation", append(labels, "enforcement_action")),
		mutating:   newChecks(r, "mutating", "mutation", labels),
	}
}

func newChecks(r prometheus.Registerer, subsystem, what string, labels []string) checks {
	name := "apiserver_" + subsystem + "_admission_policy_check_"
	c := checks{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name + "total", Help: "Checks by admission policies, by policy, binding and result of the " + what + ".",
		}, labels),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name + "duration_seconds", Help: "Latency of one " + what + " in seconds, by policy, binding and result.",
			Buckets: []float64{0.0000005, 0.001, 0.01, 0.1, 1.0},
		}, labels),
	}
	if r != nil {
		r.MustRegister(c.total, c.duration)
	}
	return c
}

func (c checks) observe(took time.Duration, labels ...string) {
	c.total.WithLabelValues(labels...).Inc()
	c.duration.WithLabelValues(labels...).Observe(took.Seconds())
}

// forget removes the series with the label value.
func (m *policyMetrics) forget(label, value string) {
	for _, c := range []checks{m.validating, m.mutating} {
		c.total.DeletePartialMatch(prometheus.Labels{label: value})
		c.duration.DeletePartialMatch(prometheus.Labels{label: value})
	}
}

// errorType returns the label error_type for a message. A validation that evaluates to false has the same label as an
// error (ASP validating/errors.go).
func errorType(message string) string {
	switch {
	case strings.HasPrefix(message, "compilation"):
		return "compile_error"
	case strings.HasPrefix(message, "validation failed due to running out of cost budget"):
		return "out_of_budget"
	}
	return "invalid_error"
}
