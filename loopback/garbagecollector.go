package loopback

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/gc"
)

// GarbageCollector creates a gc.Collector for each term in which this server leads. A nil one collects nothing.
type GarbageCollector struct {
	config  gc.Config
	adapter *Collector
	// running is the collector of the current term; nil if there is none.
	running atomic.Pointer[gc.Collector]
}

// CollectorConfig configures a GarbageCollector, which sets API, Kinds, and the fields for other servers.
type CollectorConfig = gc.Config

// NewGarbageCollector returns a collector that does not run yet.
func NewGarbageCollector(c CollectorConfig) *GarbageCollector {
	adapter := &Collector{}
	c.API, c.Kinds = adapter, adapter
	return &GarbageCollector{adapter: adapter, config: c}
}

// Handlers returns the handlers of the graph by their paths: kube-controller-manager's (D-90), and a short one.
func (c *GarbageCollector) Handlers() map[string]http.Handler {
	return map[string]http.Handler{
		"/debug/controllers/garbage-collector-controller/graph": c,
		"/debug/controllers/garbage-collector-controller/*":     c,
		"/debug/controllers/garbagecollector/graph":             c,
	}
}

// With returns a function that collects garbage, with requests to the API, until its context is done. The API is not an
// option of NewGarbageCollector, because its server serves the collector's graph and is created later. others may be
// nil.
func (c *GarbageCollector) With(api *registry.Loopback, others Aggregator) func(context.Context) {
	c.adapter.API = api
	if others != nil {
		c.adapter.others = &elsewhere{Aggregator: others, api: api, log: c.config.Log}
		c.config.Follow = c.adapter.others.follow
		c.config.Elsewhere = c.adapter.others.absent
	}
	return func(ctx context.Context) {
		collector := gc.New(c.config)
		c.running.Store(collector)
		defer c.running.Store(nil)
		if err := collector.Run(ctx); err != nil && ctx.Err() == nil {
			c.config.Log.Error("the garbage collector stopped", "err", err)
		}
	}
}

// Queued returns the number of objects that wait for the running collector; ok is false if none runs here.
func (c *GarbageCollector) Queued() (n int, ok bool) {
	if c == nil {
		return 0, false
	}
	collector := c.running.Load()
	if collector == nil {
		return 0, false
	}
	return collector.Queued(), true
}

// ServeHTTP serves the graph of the running collector.
func (c *GarbageCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.running.Load().ServeHTTP(w, r)
}
