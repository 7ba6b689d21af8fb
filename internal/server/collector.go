package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/loopback"
)

// collection creates a collector for each term in which this server leads.
type collection struct {
	config  gc.Config
	adapter *loopback.Collector
	log     *slog.Logger
	// began is closed when the first collector runs.
	began chan struct{}
	first sync.Once
	// now is the running collector; nil if there is none.
	now atomic.Pointer[gc.Collector]
}

// newCollection returns a collection with the handlers of the graph by their paths: that of kube-controller-manager
// (D-90), and the short one. connect sets the server for its requests before it runs, as that server also serves the
// graph.
func newCollection(
	workers int, d *data, r prometheus.Registerer, log *slog.Logger,
) (*collection, map[string]http.Handler) {
	adapter := &loopback.Collector{}
	c := &collection{began: make(chan struct{}), adapter: adapter, log: log}
	c.config = gc.Config{API: adapter, Timeline: d.cache, Kinds: adapter,
		Workers: workers, Root: d.decoder.Root, Registerer: r, Log: log}
	return c, map[string]http.Handler{
		"/debug/controllers/garbage-collector-controller/graph": c,
		"/debug/controllers/garbage-collector-controller/*":     c,
		"/debug/controllers/garbagecollector/graph":             c,
	}
}

// connect sets the server for the collectors' requests.
func (c *collection) connect(api *apiserver.Server) {
	c.adapter.API = api.Loopback(
		authentication.ServiceAccount("kube-system", "generic-garbage-collector"), controllerManager,
	)
}

// run collects until ctx is done.
func (c *collection) run(ctx context.Context) {
	collector := gc.New(c.config)
	c.now.Store(collector)
	c.first.Do(func() { close(c.began) })
	defer c.now.Store(nil)
	if err := collector.Run(ctx); err != nil && ctx.Err() == nil {
		c.log.Error("the garbage collector stopped", "err", err)
	}
}

// idle waits until the collector is idle at the revision, if it runs.
func (c *collection) idle(ctx context.Context, revision int64) error {
	select {
	case <-c.began:
	case <-ctx.Done():
		return ctx.Err()
	}
	if collector := c.now.Load(); collector != nil {
		return collector.Idle(ctx, revision)
	}
	return nil
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
