package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/loopback"
)

// collection creates a collector for each term in which this server leads.
type collection struct {
	config  gc.Config
	adapter *loopback.Collector
	log     *slog.Logger
	// now is the running collector; nil if there is none.
	now atomic.Pointer[gc.Collector]
}

// newCollection returns a collection with the handlers of the graph by their paths: that of kube-controller-manager
// (D-90), and the short one. It gets the client for its requests later, as the server of the client also serves the
// graph.
func newCollection(
	workers int, d *data, r prometheus.Registerer, log *slog.Logger,
) (*collection, map[string]http.Handler) {
	adapter := &loopback.Collector{}
	c := &collection{adapter: adapter, log: log}
	c.config = gc.Config{API: adapter, Timeline: d.cache, Kinds: adapter,
		Workers: workers, Root: d.decoder.Root, Registerer: r, Log: log}
	return c, map[string]http.Handler{
		"/debug/controllers/garbage-collector-controller/graph": c,
		"/debug/controllers/garbage-collector-controller/*":     c,
		"/debug/controllers/garbagecollector/graph":             c,
	}
}

// with returns run, with the client for the collectors' requests.
func (c *collection) with(api *registry.Loopback) func(context.Context) {
	c.adapter.API = api
	return c.run
}

// run collects until ctx is done.
func (c *collection) run(ctx context.Context) {
	collector := gc.New(c.config)
	c.now.Store(collector)
	defer c.now.Store(nil)
	if err := collector.Run(ctx); err != nil && ctx.Err() == nil {
		c.log.Error("the garbage collector stopped", "err", err)
	}
}

// queued is how many objects wait for the running collector; ok is false if none runs here.
func (c *collection) queued() (n int, ok bool) {
	if c == nil {
		return 0, false
	}
	collector := c.now.Load()
	if collector == nil {
		return 0, false
	}
	return collector.Queued(), true
}

// ServeHTTP serves the graph of the running collector.
func (c *collection) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !gc.IsGraph(r.URL.Path) { // D-90, whether or not the collector runs here
		http.Error(w, "", http.StatusNotFound)
		return
	}
	if collector := c.now.Load(); collector != nil {
		collector.Handler().ServeHTTP(w, r)
		return
	}
	http.Error(w, "the garbage collector is not running", http.StatusServiceUnavailable)
}
