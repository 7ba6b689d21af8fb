package server

import (
	"context"
	"log/slog"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/controllers/fixture"
	"github.com/kubecascade/kubecascade/internal/controller"
	"github.com/kubecascade/kubecascade/loopback"
)

// fixtures returns the functions, by name, that run the controllers which keep an object in every namespace. Each uses
// the service account that it has in kube-controller-manager.
func fixtures(api *apiserver.Server, d *data, keys *pki.Bundle, log *slog.Logger) map[string]func(context.Context) {
	run := func(rule fixture.Rule, account string) func(context.Context) {
		adapter := &loopback.Fixtures{
			API: api.Loopback(authentication.ServiceAccount("kube-system", account), controllerManager), Cache: d.cache,
		}
		return fixture.New(rule, adapter, log).Run
	}
	return map[string]func(context.Context){
		controller.Accounts:     run(fixture.Accounts(), "service-account-controller"),
		controller.Certificates: run(fixture.Certificate(string(keys.AuthorityPEM())), "root-ca-cert-publisher"),
	}
}
