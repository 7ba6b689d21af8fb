package dynamic

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/admission"
)

// PluginMetrics are apiserver_admission_controller_admission_duration_seconds for the plugins of a chain (L-112). It
// implements admission.Each.
type PluginMetrics struct {
	chain admission.Chain
	// operations says for which operations the plugins are observed.
	operations [][len(operations)]bool
	// series are those that were observed, by the plugin, the step, the operation, and whether the request was rejected.
	// A look-up by the values of labels would cost more than all else.
	series [][len(steps)][len(operations)][2]atomic.Pointer[durations]
}

var _ admission.Each = (*PluginMetrics)(nil)

var steps = [...]admission.Step{admission.Admitting, admission.Validating}

// operations are those that are observed, in the order of the series.
var operations = [...]admission.Operation{admission.Create, admission.Update, admission.Delete, admission.Connect}

// NewPluginMetrics returns metrics that are registered with r.
func NewPluginMetrics(r prometheus.Registerer, chain admission.Chain) *PluginMetrics {
	m := &PluginMetrics{
		chain: chain, operations: make([][len(operations)]bool, len(chain)),
		series: make([][len(steps)][len(operations)][2]atomic.Pointer[durations], len(chain)),
	}
	for place, p := range chain {
		for i, o := range operations {
			m.operations[place][i] = admission.Handles(p.Name(), o)
		}
	}
	r.MustRegister(m)
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
		at.CompareAndSwap(nil, new(durations))
		series = at.Load()
	}
	series.observe(took)
}

var pluginDurations = prometheus.NewDesc("apiserver_admission_controller_admission_duration_seconds",
	"Duration of an admission plugin, in seconds.", []string{"name", "type", "operation", "rejected"}, nil)

// Describe implements prometheus.Collector.
func (m *PluginMetrics) Describe(to chan<- *prometheus.Desc) { to <- pluginDurations }

// Collect implements prometheus.Collector.
func (m *PluginMetrics) Collect(to chan<- prometheus.Metric) {
	for place := range m.series {
		for i, s := range steps {
			for j, o := range operations {
				for outcome := range 2 {
					if d := m.series[place][i][j][outcome].Load(); d != nil {
						to <- d.metric(m.chain[place].Name(), string(s), string(o), strconv.FormatBool(outcome == 1))
					}
				}
			}
		}
	}
}
