package dynamic

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/admission"
)

// PluginMetrics is the metric apiserver_admission_controller_admission_duration_seconds for the plugins of a chain
// (L-112). It implements admission.Each.
type PluginMetrics struct {
	chain     admission.Chain
	durations *prometheus.HistogramVec
	// operations reports, for each plugin, which operations are observed.
	operations [][len(operations)]bool
	// series are the observed series, by plugin, step, operation and whether the request was rejected. They are not
	// looked up by labels, which would be slow.
	series [][len(steps)][len(operations)][2]atomic.Pointer[prometheus.Observer]
}

var _ admission.Each = (*PluginMetrics)(nil)

var steps = [...]admission.Step{admission.Admitting, admission.Validating}

// operations are the observed operations, in the order of the series.
var operations = [...]admission.Operation{admission.Create, admission.Update, admission.Delete, admission.Connect}

// NewPluginMetrics returns metrics and registers them with r.
func NewPluginMetrics(r prometheus.Registerer, chain admission.Chain) *PluginMetrics {
	m := &PluginMetrics{
		chain: chain, operations: make([][len(operations)]bool, len(chain)),
		series: make([][len(steps)][len(operations)][2]atomic.Pointer[prometheus.Observer], len(chain)),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_admission_controller_admission_duration_seconds",
			Help:    "Duration of an admission plugin, in seconds.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5},
		}, []string{"name", "type", "operation", "rejected"}),
	}
	for place, p := range chain {
		for i, o := range operations {
			m.operations[place][i] = slices.Contains(p.On, o)
		}
	}
	r.MustRegister(m.durations)
	return m
}

// Observes implements admission.Each.
func (m *PluginMetrics) Observes(place int, o admission.Operation) bool {
	i := slices.Index(operations[:], o)
	return i >= 0 && m.operations[place][i]
}

// Observe implements admission.Each.
func (m *PluginMetrics) Observe(
	place int, s admission.Step, o admission.Operation, rejected bool, took time.Duration,
) {
	step, outcome := 0, 0
	if s == admission.Validating {
		step = 1
	}
	if rejected {
		outcome = 1
	}
	at := &m.series[place][step][slices.Index(operations[:], o)][outcome]
	series := at.Load()
	if series == nil {
		made := m.durations.WithLabelValues(m.chain[place].Name, string(s), string(o), strconv.FormatBool(rejected))
		series = &made
		at.Store(series)
	}
	(*series).Observe(took.Seconds())
}
