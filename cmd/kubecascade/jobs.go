package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/controllers/cronjob"
	"github.com/kubecascade/kubecascade/controllers/job"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

const (
	jobController  = "job-controller"
	cronController = "cronjob-controller"
)

// workers returns what runs the controllers of pods that do a piece of work, and of what belongs to nodes, by
// their names. Each speaks as the service account that it has in kube-controller-manager
// (K cmd/kube-controller-manager/app/batch.go, apps.go, core.go).
func workers(api *apiserver.Server, d *data, index *loopback.Index, log *slog.Logger) map[string]func(context.Context) {
	run := func(account string, controllers ...func() workload.Controller) func(context.Context) {
		adapter := &loopback.Workloads{API: api.Loopback(auth.ServiceAccount("kube-system", account), controllerManager), Cache: d.cache, Index: index}
		return func(ctx context.Context) {
			var all sync.WaitGroup
			for _, c := range controllers {
				all.Go(func() { workload.Run(ctx, c(), adapter, workload.Options{Log: log}) })
			}
			all.Wait()
		}
	}
	return map[string]func(context.Context){
		jobController:  run("job-controller", job.New, job.Orphans),
		cronController: run("cronjob-controller", cronjob.New),
	}
}
