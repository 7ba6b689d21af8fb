package server

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/internal/featuregates"
)

// Gates are the feature gates of kube-apiserver that have an effect here, with their defaults there.
func Gates() map[string]bool {
	all := map[string]bool{}
	for _, name := range featuregates.Effective() {
		all[name] = featuregates.Known()[name].On
	}
	return all
}

// featureGates are all gates of kube-apiserver; those that are not set have their defaults.
func (c *Config) featureGates() (map[string]bool, error) {
	all, err := featuregates.Resolve(c.Gates)
	if err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	return all, nil
}

// warnOfGates logs the gates that are set to another value than their default, and have no effect here.
func (c *Config) warnOfGates(log *slog.Logger) {
	var without []string
	for _, name := range slices.Sorted(maps.Keys(c.Gates)) {
		every := name == "AllAlpha" || name == "AllBeta" // may set one that has an effect
		if !every && c.Gates[name] != featuregates.Known()[name].On && !slices.Contains(featuregates.Effective(), name) {
			without = append(without, name)
		}
	}
	if len(without) > 0 {
		log.Warn("feature gates without effect", "gates", strings.Join(without, ","))
	}
}

// enabled is a metric of kube-apiserver (component-base metrics/prometheus/feature): 1 for each gate that is enabled
// and 0 for the others. Gates whose stage isn't known are left out. The values are made for each scrape, as the gates
// are many and are seldom asked for.
type enabled map[string]bool

var enabledGates = prometheus.NewDesc("kubernetes_feature_enabled",
	"Whether a feature gate is enabled, by its name and stage. Most have no effect here.", []string{"name", "stage"}, nil)

// Describe implements prometheus.Collector.
func (enabled) Describe(out chan<- *prometheus.Desc) { out <- enabledGates }

// Collect implements prometheus.Collector.
func (e enabled) Collect(out chan<- prometheus.Metric) {
	for name, on := range e {
		stage := featuregates.Known()[name].Stage
		if stage == featuregates.Unknown {
			continue
		}
		label, value := strings.ToUpper(string(stage)), 0.
		if stage == featuregates.GA {
			label = ""
		}
		if on {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(enabledGates, prometheus.GaugeValue, value, name, label)
	}
}
