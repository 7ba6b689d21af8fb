package loopback

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// GarbageCollector creates a gc.Collector for each term in which this server leads. A nil one collects nothing.
type GarbageCollector struct {
	config  gc.Config
	adapter *Collector
	// running is the collector of the current term; nil if there is none.
	running atomic.Pointer[gc.Collector]
}

// GarbageCollectorOptions configure a GarbageCollector.
type GarbageCollectorOptions struct {
	Cache *cache.Cache
	// Root is the prefix of all keys.
	Root string
	// Workers is the maximum number of concurrent requests; 0 means the default.
	Workers int
	// Events stores an Event for each object that is deleted.
	Events     bool
	Registerer prometheus.Registerer
	Log        *slog.Logger
}

// NewGarbageCollector returns a collector that does not run yet.
func NewGarbageCollector(o GarbageCollectorOptions) *GarbageCollector {
	adapter := &Collector{}
	return &GarbageCollector{adapter: adapter, config: gc.Config{API: adapter, Timeline: o.Cache, Kinds: adapter,
		Workers: o.Workers, Root: o.Root, Events: o.Events, Registerer: o.Registerer, Log: o.Log}}
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
	if !gc.IsGraph(r.URL.Path) { // D-90, whether or not the collector runs here
		http.Error(w, "", http.StatusNotFound)
		return
	}
	if collector := c.running.Load(); collector != nil {
		collector.Handler().ServeHTTP(w, r)
		return
	}
	http.Error(w, "the garbage collector is not running", http.StatusServiceUnavailable)
}
