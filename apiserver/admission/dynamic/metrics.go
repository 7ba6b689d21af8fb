package dynamic

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/expression"
)

// Metrics are the metrics of webhooks and match conditions, with upstream's names (L-110, L-111; AS
// pkg/admission/metrics).
type Metrics struct {
	duration           *prometheus.HistogramVec
	rejection          *prometheus.CounterVec
	failOpen           *prometheus.CounterVec
	request            *prometheus.CounterVec
	conditionErrors    *prometheus.CounterVec
	conditionExclusion *prometheus.CounterVec
	conditionDuration  *prometheus.HistogramVec
	// steps are the series for a step, an operation and whether the request was rejected. They are not looked up by
	// labels, which would be slow.
	steps map[step][]prometheus.Observer
}

// step identifies the series of a step's durations.
type step struct {
	step      admission.Step
	operation admission.Operation
	rejected  bool
}

// Labels of match conditions: their kind, and the type for those of policies, including mutating ones (AS
// pkg/admission/plugin/policy/mutating/plugin.go).
const (
	kindWebhook  = "webhook"
	kindPolicy   = "policy"
	typeOfPolicy = "validate"
)

// maxCode is the largest HTTP status code in a label (AS pkg/admission/metrics: ObserveWebhook).
const maxCode = 600

// NewMetrics returns metrics and registers them with r, unless r is nil.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "apiserver_admission_" + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(
			prometheus.HistogramOpts{Name: "apiserver_admission_" + name, Help: help, Buckets: buckets}, labels,
		)
	}
	condition := []string{"name", "kind", "type", "operation"}
	m := &Metrics{
		duration: histogram("webhook_admission_duration_seconds",
			"Duration of the calls of an admission webhook, in seconds.",
			[]float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25}, "name", "type", "operation", "rejected"),
		rejection: counter("webhook_rejection_count",
			"Requests that were rejected by an admission webhook or because of its failure.",
			"name", "type", "operation", "error_type", "rejection_code"),
		failOpen: counter("webhook_fail_open_count", "Failures of an admission webhook that were ignored.", "name", "type"),
		request: counter("webhook_request_total", "Calls of an admission webhook, by HTTP status code.",
			"name", "type", "operation", "code", "rejected"),
		conditionErrors: counter("match_condition_evaluation_errors_total",
			"Failed evaluations of match conditions.", condition...),
		conditionExclusion: counter("match_condition_exclusions_total",
			"Requests that match conditions have excluded.", condition...),
		conditionDuration: histogram("match_condition_evaluation_seconds",
			"Duration of the evaluation of match conditions, in seconds.",
			[]float64{0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}, condition...),
	}
	durations := histogram("step_admission_duration_seconds",
		"Duration of a step of admission, in seconds.",
		[]float64{0.005, 0.025, 0.1, 0.5, 1, 2.5}, "type", "operation", "rejected")
	summary := prometheus.NewSummaryVec(prometheus.SummaryOpts{
		Name: "apiserver_admission_step_admission_duration_seconds_summary",
		Help: "Sum and number of the durations of a step of admission, in seconds.",
	}, []string{"type", "operation", "rejected"})
	m.steps = stepsOf(durations, summary)
	if r != nil {
		r.MustRegister(durations, summary, m.duration, m.rejection, m.failOpen, m.request, m.conditionErrors,
			m.conditionExclusion, m.conditionDuration)
	}
	return m
}

// stepsOf returns the series of all steps.
func stepsOf(durations, summary prometheus.ObserverVec) map[step][]prometheus.Observer {
	all := map[step][]prometheus.Observer{}
	for _, s := range []admission.Step{admission.Admitting, admission.Validating} {
		for _, o := range []admission.Operation{admission.Create, admission.Update, admission.Delete, admission.Connect} {
			for _, rejected := range []bool{false, true} {
				labels := []string{string(s), string(o), strconv.FormatBool(rejected)}
				all[step{s, o, rejected}] = []prometheus.Observer{
					durations.WithLabelValues(labels...), summary.WithLabelValues(labels...),
				}
			}
		}
	}
	return all
}

// Step observes a step of admission.
func (m *Metrics) Step(s admission.Step, o admission.Operation, rejected bool, took time.Duration) {
	for _, series := range m.steps[step{s, o, rejected}] {
		series.Observe(took.Seconds())
	}
}

// typeOf returns the label type of webhooks.
func typeOf(mutating bool) string {
	if mutating {
		return "admit"
	}
	return "validating"
}

// called observes a call of a webhook.
func (m *Metrics) called(o *webhook.Outcome) {
	name, kind, operation := o.Hook.Name, typeOf(o.Hook.Mutating), string(o.Operation)
	code, rejected := strconv.Itoa(min(o.Code, maxCode)), strconv.FormatBool(o.Rejected)
	if o.Rejected && !o.Canceled {
		m.rejection.WithLabelValues(name, kind, operation, string(o.Error), code).Inc()
	}
	m.request.WithLabelValues(name, kind, operation, code, rejected).Inc()
	m.duration.WithLabelValues(name, kind, operation, rejected).Observe(o.Took.Seconds())
}

// matched observes an evaluation of match conditions, if there are any.
func (m *Metrics) matched(name, kind, phase string, of admission.Operation, result expression.Match) {
	if result.Elapsed == 0 {
		return
	}
	operation := string(of)
	if result.Failed > 0 {
		m.conditionErrors.WithLabelValues(name, kind, phase, operation).Add(float64(result.Failed))
	}
	if kind == kindWebhook && !result.Matches && result.Err == nil { // upstream counts only those of webhooks
		m.conditionExclusion.WithLabelValues(name, kind, phase, operation).Inc()
	}
	m.conditionDuration.WithLabelValues(name, kind, phase, operation).Observe(result.Elapsed.Seconds())
}

// forget removes the series of a webhook or policy.
func (m *Metrics) forget(kind, name string) {
	labels := prometheus.Labels{"name": name, "kind": kind}
	m.conditionErrors.DeletePartialMatch(labels)
	m.conditionExclusion.DeletePartialMatch(labels)
	m.conditionDuration.DeletePartialMatch(labels)
	if kind != kindWebhook {
		return
	}
	labels = prometheus.Labels{"name": name}
	m.duration.DeletePartialMatch(labels)
	for _, c := range []*prometheus.CounterVec{m.rejection, m.failOpen, m.request} {
		c.DeletePartialMatch(labels)
	}
}
