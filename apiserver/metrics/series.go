package metrics

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// series finds the metrics of a resource's requests, and removes those of resources that are no longer served.
// Otherwise a client could fill the memory with short-lived CRDs. Upstream keeps them until the process ends, and
// removes only the gauges of stored objects (AS pkg/storage/etcd3/metrics: DeleteStoreStats). If a resource is served
// again, its metrics start at zero, which Prometheus treats as a restart.
//
// All labels are from the table of resources, or from a fixed set, so the number of series is limited by the served
// resources. The end of a watch after the removal of its resource is not counted.
type series struct {
	vectors
	types *resources.Types
	// generation is the generation of the table when metrics were last removed.
	generation atomic.Uint64
	// mu guards the maps.
	mu       sync.RWMutex
	answered map[answer]*answerSeries
	kept     map[schema.GroupVersionResource]*resourceSeries
}

// vectors are the metrics with labels of resources.
type vectors struct {
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	sizes       *prometheus.HistogramVec
	watches     *prometheus.GaugeVec
	watchEvents *prometheus.CounterVec
}

// answer has all labels of responses.
type answer struct {
	Label
	code int
}

// answerSeries counts the responses with the same labels. took and bytes are nil for watches.
type answerSeries struct {
	count       prometheus.Counter
	took, bytes prometheus.Observer
}

// resourceSeries has the metrics of one resource, which are removed with it.
type resourceSeries struct {
	answers []answer
	// watched are the labels of its gauges of open watches. events reports whether its watch events are counted.
	watched map[Label]bool
	events  bool
}

func newSeries(v vectors, types *resources.Types) *series {
	return &series{
		vectors: v, types: types,
		answered: map[answer]*answerSeries{}, kept: map[schema.GroupVersionResource]*resourceSeries{},
	}
}

func (a answer) values() []string { return append(a.Tried(), strconv.Itoa(a.code)) }

// of returns the series of responses, or nil if the resource is no longer served.
func (s *series) of(a answer) *answerSeries {
	s.forget()
	s.mu.RLock()
	found := s.answered[a]
	s.mu.RUnlock()
	if found != nil {
		return found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answered[a] != nil {
		return s.answered[a]
	}
	r := s.seriesOf(a.ResourceOf())
	if r == nil {
		return nil
	}
	made := &answerSeries{count: s.requests.WithLabelValues(a.values()...)}
	if a.Verb != "WATCH" {
		made.took, made.bytes = s.durations.WithLabelValues(a.Tried()...), s.sizes.WithLabelValues(a.Scoped()...)
	}
	s.answered[a] = made
	r.answers = append(r.answers, a)
	return made
}

// Open returns the gauge of open watches. For a removed resource, it is not registered.
func (s *series) Open(l Label) prometheus.Gauge {
	s.forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.seriesOf(l.ResourceOf())
	if r == nil {
		return prometheus.NewGauge(prometheus.GaugeOpts{})
	}
	r.watched[l] = true
	return s.watches.WithLabelValues(l.Scoped()...)
}

// Events returns the counter of watch events. For a removed resource, it is not registered.
func (s *series) Events(of *resources.Resource) prometheus.Counter {
	s.forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.seriesOf(of.GroupVersion().WithResource(of.Plural))
	if r == nil {
		return prometheus.NewCounter(prometheus.CounterOpts{})
	}
	r.events = true
	return s.watchEvents.WithLabelValues(of.Group, of.Version, of.Plural)
}

// seriesOf returns the series of a resource, or nil if it is not served. The caller holds mu, so that nothing is added
// after forget has read a newer table.
func (s *series) seriesOf(gvr schema.GroupVersionResource) *resourceSeries {
	r := s.kept[gvr]
	if r == nil && s.types.Lookup(gvr.Group, gvr.Version, gvr.Resource) != nil {
		r = &resourceSeries{watched: map[Label]bool{}}
		s.kept[gvr] = r
	}
	return r
}

// forget removes the series of resources that have left the table. It does nothing unless the table has changed since
// the last call.
func (s *series) forget() {
	now := s.types.Generation()
	if s.generation.Load() == now {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for gvr, r := range s.kept {
		if s.types.Lookup(gvr.Group, gvr.Version, gvr.Resource) == nil {
			s.drop(gvr, r)
		}
	}
	s.generation.Store(now)
}

func (s *series) drop(gvr schema.GroupVersionResource, r *resourceSeries) {
	for _, a := range r.answers {
		delete(s.answered, a)
		s.requests.DeleteLabelValues(a.values()...)
		s.durations.DeleteLabelValues(a.Tried()...)
		s.sizes.DeleteLabelValues(a.Scoped()...)
	}
	for l := range r.watched {
		s.watches.DeleteLabelValues(l.Scoped()...)
	}
	if r.events {
		s.watchEvents.DeleteLabelValues(gvr.Group, gvr.Version, gvr.Resource)
	}
	delete(s.kept, gvr)
}
