package main

import (
	"context"
	"log/slog"
	"maps"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/controllers/deployment"
	"github.com/kubecascade/kubecascade/controllers/endpoint"
	"github.com/kubecascade/kubecascade/controllers/replicaset"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

// workloads are the controllers that own what they make, by the names that --controllers knows, each with the
// service account that it has in kube-controller-manager (K cmd/kube-controller-manager/app).
var workloads = []struct {
	name, account string
	controller    func() workload.Controller
}{
	{"endpoints-controller", "endpoint-controller", endpoint.Endpoints},
	{"endpointslice-controller", "endpointslice-controller", endpoint.Slices},
	{"replicationcontroller-controller", "replication-controller", replicaset.NewReplication},
	{"replicaset-controller", "replicaset-controller", replicaset.New},
	{"deployment-controller", "deployment-controller", deployment.New},
}

func workloadNames() (names []string) {
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return append(names, batchNames()...)
}

// simulators is how many pods are seen to at once by --simulate-pods.
const simulators = 32

// workers returns what runs those of them that are on, by name, and --simulate-pods. They share one index.
func workers(o *options, on map[string]bool, api *apiserver.Server, d *data, log *slog.Logger) map[string]func(context.Context) {
	index := loopback.NewIndex(d.cache, d.types, d.decoder.Root)
	run := map[string]func(context.Context){}
	for _, w := range workloads {
		if !on[w.name] {
			continue
		}
		adapter := &loopback.Workloads{API: api.Loopback(auth.ServiceAccount("kube-system", w.account), controllerManager), Cache: d.cache, Index: index}
		run[w.name] = func(ctx context.Context) { workload.Run(ctx, w.controller(), adapter, workload.Options{Log: log}) }
	}
	maps.Copy(run, batchWorkers(on, api, d, index, log))
	if o.simulatePods {
		adapter := &loopback.Workloads{API: api.Loopback(auth.Loopback, "kubelet"), Cache: d.cache, Index: index}
		pods := simulation.Pods(simulation.Options{Delay: o.simulateDelay})
		run["node simulation"] = func(ctx context.Context) {
			workload.Run(ctx, simulation.Node("v"+kubernetesVersion), adapter, workload.Options{Log: log})
		}
		run["pod simulation"] = func(ctx context.Context) {
			workload.Run(ctx, pods, adapter, workload.Options{Log: log, Workers: simulators})
		}
	}
	return run
}
