package metrics

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// series has the metrics of a resource's requests, and removes those of resources that are no longer served. Otherwise
// a client could fill the memory with short-lived CRDs. Upstream keeps them until the process ends, and removes only
// the gauges of stored objects (AS pkg/storage/etcd3/metrics: DeleteStoreStats). If a resource is served again, its
// metrics start at zero, which Prometheus treats as a restart.
//
// All labels are from the table of resources, or from a fixed set, so the number of series is limited by the served
// resources. The end of a watch after the removal of its resource is not counted.
type series struct {
	vectors
	types *resources.Types
	// generation is the generation of the table when metrics were last removed.
	generation atomic.Uint64
	// mu is held for reading while metrics are made, and locked while they are removed.
	mu sync.RWMutex
	// kept are the resources that have metrics, by schema.GroupVersionResource.
	kept sync.Map
}

// vectors are the metrics with labels of resources.
type vectors struct {
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	sizes       *prometheus.HistogramVec
	watches     *prometheus.GaugeVec
	watchEvents *prometheus.CounterVec
}

// Open returns the gauge of open watches. For a removed resource, it is not registered.
func (s *series) Open(l Label) prometheus.Gauge {
	defer s.mu.RUnlock()
	if !s.serves(l.ResourceOf()) {
		return prometheus.NewGauge(prometheus.GaugeOpts{})
	}
	return s.watches.WithLabelValues(l.Scoped()...)
}

// Events returns the counter of watch events. For a removed resource, it is not registered.
func (s *series) Events(of *resources.Resource) prometheus.Counter {
	defer s.mu.RUnlock()
	if !s.serves(of.GroupVersion().WithResource(of.Plural)) {
		return prometheus.NewCounter(prometheus.CounterOpts{})
	}
	return s.watchEvents.WithLabelValues(of.Group, of.Version, of.Plural)
}

// serves reports whether a resource is served. It locks mu for reading, so that no metrics are made after their
// removal. The caller unlocks it.
func (s *series) serves(r schema.GroupVersionResource) bool {
	s.forget()
	s.mu.RLock()
	served := s.types.Lookup(r.Group, r.Version, r.Resource) != nil
	if served {
		s.kept.LoadOrStore(r, nil)
	}
	return served
}

// forget removes the metrics of resources that have left the table. It does nothing unless the table has changed since
// the last call.
func (s *series) forget() {
	now := s.types.Generation()
	if s.generation.Load() == now {
		return
	}
	for key := range s.kept.Range {
		r := key.(schema.GroupVersionResource)
		s.mu.Lock() // for one resource, as it takes milliseconds
		if s.types.Lookup(r.Group, r.Version, r.Resource) == nil {
			labels := prometheus.Labels{"group": r.Group, "version": r.Version, "resource": r.Resource}
			for _, v := range []*prometheus.MetricVec{
				s.requests.MetricVec, s.durations.MetricVec, s.sizes.MetricVec, s.watches.MetricVec, s.watchEvents.MetricVec,
			} {
				v.DeletePartialMatch(labels)
			}
			s.kept.Delete(key)
		}
		s.mu.Unlock()
	}
	s.generation.Store(now)
}
