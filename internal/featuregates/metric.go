package featuregates

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric is a metric of kube-apiserver (component-base metrics/prometheus/feature): 1 for each gate that is enabled
// and 0 for the others. It has the gates that have an effect.
type Metric map[string]bool

var enabledGates = prometheus.NewDesc("kubernetes_feature_enabled",
	"Whether a feature gate is enabled, by its name and stage.", []string{"name", "stage"}, nil)

// Describe implements prometheus.Collector.
func (Metric) Describe(out chan<- *prometheus.Desc) { out <- enabledGates }

// Collect implements prometheus.Collector.
func (m Metric) Collect(out chan<- prometheus.Metric) {
	for _, name := range Effective() {
		stage := Known()[name].Stage
		label, value := strings.ToUpper(string(stage)), 0.
		if stage == GA {
			label = ""
		}
		if m[name] {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(enabledGates, prometheus.GaugeValue, value, name, label)
	}
}
