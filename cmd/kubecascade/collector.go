package main

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/loopback"
)

// newCollector makes the collector, and the handlers that show its graph by their paths: that of
// kube-controller-manager (D-90), and the short one. The server whose requests it makes is set in
// the adapter before it runs, as that server serves the graph.
func newCollector(o *options, d *data, r prometheus.Registerer, log *slog.Logger) (*gc.Collector, *loopback.Collector, map[string]http.Handler) {
	adapter := &loopback.Collector{}
	c := gc.New(gc.Config{API: adapter, Timeline: d.cache, Kinds: adapter, Workers: o.gcSyncs, Root: d.decoder.Root, Registerer: r, Log: log})
	return c, adapter, map[string]http.Handler{
		"/debug/controllers/garbage-collector-controller/graph": c.Handler(),
		"/debug/controllers/garbagecollector/graph":             c.Handler(),
	}
}

// collect connects the adapter and returns what runs the collector until its context ends.
func collect(c *gc.Collector, adapter *loopback.Collector, api *apiserver.Server, log *slog.Logger) func(context.Context) {
	adapter.API = api.Loopback(auth.ServiceAccount("kube-system", "generic-garbage-collector"), controllerManager)
	return func(ctx context.Context) {
		if err := c.Run(ctx); err != nil && ctx.Err() == nil {
			log.Error("the garbage collector ended", "err", err)
		}
	}
}
