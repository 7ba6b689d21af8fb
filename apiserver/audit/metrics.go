package audit

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Gatherer gathers the metrics apiserver_audit_*, which upstream's package counts for the process (N-42).
var Gatherer prometheus.Gatherer = prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
	all, err := legacyregistry.DefaultGatherer.Gather()
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool {
		return !strings.HasPrefix(f.GetName(), "apiserver_audit_")
	}), err
})
