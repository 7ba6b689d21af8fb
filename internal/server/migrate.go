package server

import (
	"context"
	"log/slog"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/controllers/migration"
	"github.com/kubecascade/kubecascade/internal/controller"
	"github.com/kubecascade/kubecascade/loopback"
)

// migrate returns the function that runs the controller which rewrites stored objects (V-087).
func migrate(api *apiserver.Server, d *data, log *slog.Logger) func(context.Context) {
	account := authentication.ServiceAccount("kube-system", controller.Migrations)
	adapter := &loopback.Migrations{
		API: api.Loopback(account, controllerManager), Objects: api.Loopback(account, migration.Manager),
		Definitions: api.Loopback(account, migration.DefinitionManager), Cache: d.cache,
	}
	return func(ctx context.Context) { migration.Run(ctx, adapter, log) }
}
