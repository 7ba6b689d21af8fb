package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/controllers/cronjob"
	"github.com/kubecascade/kubecascade/controllers/daemonset"
	"github.com/kubecascade/kubecascade/controllers/job"
	"github.com/kubecascade/kubecascade/controllers/node"
	"github.com/kubecascade/kubecascade/controllers/podgc"
	"github.com/kubecascade/kubecascade/controllers/statefulset"
	"github.com/kubecascade/kubecascade/controllers/ttl"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

// batches are the controllers of Jobs and of what there is one of for each node or number. Some are made of
// several.
var batches = []struct {
	name, account string
	controllers   []func() workload.Controller
}{
	{"job-controller", "job-controller", []func() workload.Controller{job.New, job.Orphans}},
	{"cronjob-controller", "cronjob-controller", []func() workload.Controller{cronjob.New}},
	{"statefulset-controller", "statefulset-controller", []func() workload.Controller{statefulset.New}},
	{"daemonset-controller", "daemon-set-controller", []func() workload.Controller{daemonset.New}},
	{"ttl-after-finished-controller", "ttl-after-finished-controller", []func() workload.Controller{ttl.New}},
	{"pod-garbage-collector-controller", "pod-garbage-collector", []func() workload.Controller{podgc.New}},
	{"node-lifecycle-controller", "node-controller", []func() workload.Controller{node.New}},
}

func batchNames() (names []string) {
	for _, b := range batches {
		names = append(names, b.name)
	}
	return names
}

// batchWorkers returns what runs those of them that are on, by name.
func batchWorkers(on map[string]bool, api *apiserver.Server, d *data, index *loopback.Index, log *slog.Logger) map[string]func(context.Context) {
	run := map[string]func(context.Context){}
	for _, b := range batches {
		if !on[b.name] {
			continue
		}
		adapter := &loopback.Workloads{API: api.Loopback(auth.ServiceAccount("kube-system", b.account), controllerManager), Cache: d.cache, Index: index}
		run[b.name] = func(ctx context.Context) {
			var all sync.WaitGroup
			for _, c := range b.controllers {
				all.Go(func() { workload.Run(ctx, c(), adapter, workload.Options{Log: log}) })
			}
			all.Wait()
		}
	}
	return run
}
