package server

import (
	"context"
	"log/slog"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/controllers/policystatus"
	"github.com/kubecascade/kubecascade/internal/controller"
	"github.com/kubecascade/kubecascade/loopback"
)

// checkPolicies returns the function that runs the controller which checks the types in validating admission policies.
func checkPolicies(api *apiserver.Server, d *data, log *slog.Logger) func(context.Context) {
	adapter := &loopback.PolicyStatus{
		API:   api.Loopback(authentication.ServiceAccount("kube-system", controller.Policies), policystatus.Manager),
		Cache: d.cache, Served: apiserver.Served(d.types),
	}
	return policystatus.New(adapter, log).Run
}
