package main

import (
	"context"
	"log/slog"

	"github.com/kubecascade/kubecascade/apiserver"
)

type collector struct{}

func newCollector(o *options, d *data, config *apiserver.Config, log *slog.Logger) *collector {
	return &collector{}
}

func (c *collector) runner(api *apiserver.Server) func(context.Context) {
	return func(context.Context) {}
}
