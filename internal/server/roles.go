package server

import (
	"context"
	"log/slog"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/controllers/aggregation"
	"github.com/kubecascade/kubecascade/internal/controller"
	"github.com/kubecascade/kubecascade/loopback"
)

// aggregateRoles returns the function that runs the controller for aggregated cluster roles. It has its own manager in
// managedFields, as in kube-controller-manager.
func aggregateRoles(api *apiserver.Server, d *data, log *slog.Logger) func(context.Context) {
	adapter := &loopback.Aggregation{
		API: api.Loopback(authentication.ServiceAccount("kube-system", controller.Roles), controller.Roles), Cache: d.cache,
	}
	return aggregation.New(adapter, log).Run
}
