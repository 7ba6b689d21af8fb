package server

import (
	"context"
	"log/slog"
	"sync"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/controllers/protection"
	"github.com/kubecascade/kubecascade/controllers/unused"
	"github.com/kubecascade/kubecascade/internal/controller"
	"github.com/kubecascade/kubecascade/loopback"
)

// protectors returns the functions, by name, that run the controllers which protect storage objects in use. Each uses
// the service account that it has in kube-controller-manager (K cmd/kube-controller-manager/app/core.go).
func protectors(api *apiserver.Server, d *data, log *slog.Logger) map[string]func(context.Context) {
	run := func(rule protection.Rule, account string) func(context.Context) {
		adapter := &loopback.Protection{
			API: api.Loopback(authentication.ServiceAccount("kube-system", account), controllerManager), Cache: d.cache,
		}
		return protection.New(rule, adapter, protection.Options{Log: log}).Run
	}
	return map[string]func(context.Context){
		controller.Volumes: run(protection.Volumes(), "pv-protection-controller"),
		controller.Claims:  run(protection.Claims(), claimsAccount),
		controller.Classes: run(protection.Classes(), "volumeattributesclass-protection-controller"),
	}
}

const claimsAccount = "pvc-protection-controller"

// unusedClaims returns a part of the controller of claims, which maintains their condition Unused (V-083).
func unusedClaims(api *apiserver.Server, d *data, log *slog.Logger) func(context.Context) {
	adapter := &loopback.Unused{
		API: api.Loopback(authentication.ServiceAccount("kube-system", claimsAccount), controllerManager), Cache: d.cache,
	}
	return func(ctx context.Context) { unused.Run(ctx, adapter, log) }
}

// together returns a function that runs both and returns when both have.
func together(a, b func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		var all sync.WaitGroup
		all.Go(func() { a(ctx) })
		b(ctx)
		all.Wait()
	}
}
