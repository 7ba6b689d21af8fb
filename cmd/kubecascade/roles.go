package main

import (
	"context"
	"log/slog"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/controllers/aggregation"
	"github.com/kubecascade/kubecascade/loopback"
)

// aggregateRoles returns what runs the controller that fills aggregated cluster roles. It is a program of
// its own in managedFields, as in kube-controller-manager.
func aggregateRoles(api *apiserver.Server, d *data, log *slog.Logger) func(context.Context) {
	adapter := &loopback.Aggregation{API: api.Loopback(auth.ServiceAccount("kube-system", roleAggregation), roleAggregation), Cache: d.cache}
	return aggregation.New(adapter, log).Run
}
