package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/controllers/cronjob"
	"github.com/kubecascade/kubecascade/controllers/daemonset"
	"github.com/kubecascade/kubecascade/controllers/deployment"
	"github.com/kubecascade/kubecascade/controllers/endpoint"
	"github.com/kubecascade/kubecascade/controllers/ephemeral"
	"github.com/kubecascade/kubecascade/controllers/job"
	"github.com/kubecascade/kubecascade/controllers/node"
	"github.com/kubecascade/kubecascade/controllers/podgc"
	"github.com/kubecascade/kubecascade/controllers/replicaset"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/controllers/statefulset"
	"github.com/kubecascade/kubecascade/controllers/ttl"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

// workloads are the controllers that use package workload, by the names of --controllers, each with the service account
// that it has in kube-controller-manager (K cmd/kube-controller-manager/app).
var workloads = []struct {
	name, account string
	// syncs is the flag for the number of concurrent passes, and workers its default; empty if there is none (K
	// cmd/kube-controller-manager/app/options; pkg/controller/*/config/v1alpha1/defaults.go).
	syncs   string
	workers int
	// controllers are its parts.
	controllers []func() workload.Controller
}{
	{"endpoints-controller", "endpoint-controller", "concurrent-endpoint-syncs", 5, made(endpoint.Endpoints)},
	{
		"endpointslice-controller", "endpointslice-controller", "concurrent-service-endpoint-syncs", 5, made(endpoint.Slices),
	},
	{
		"endpointslice-mirroring-controller", "endpointslicemirroring-controller",
		"mirroring-concurrent-service-endpoint-syncs", 5, made(endpoint.Mirror),
	},
	{
		"replicationcontroller-controller", "replication-controller", "concurrent-rc-syncs", 5,
		made(replicaset.NewReplication),
	},
	{"replicaset-controller", "replicaset-controller", "concurrent-replicaset-syncs", 5, made(replicaset.New)},
	{"deployment-controller", "deployment-controller", "concurrent-deployment-syncs", 5, made(deployment.New)},
	{"job-controller", "job-controller", "concurrent-job-syncs", 5, made(job.New, job.Orphans)},
	{"cronjob-controller", "cronjob-controller", "concurrent-cron-job-syncs", 5, made(cronjob.New)},
	{"statefulset-controller", "statefulset-controller", "concurrent-statefulset-syncs", 5, made(statefulset.New)},
	{"daemonset-controller", "daemon-set-controller", "concurrent-daemonset-syncs", 2, made(daemonset.New)},
	{
		"ephemeral-volume-controller", "ephemeral-volume-controller", "concurrent-ephemeralvolume-syncs", 5,
		made(ephemeral.New),
	},
	{
		"ttl-after-finished-controller", "ttl-after-finished-controller", "concurrent-ttl-after-finished-syncs", 5,
		made(ttl.New),
	},
	{"pod-garbage-collector-controller", "pod-garbage-collector", "", 0, made(podgc.New)},
	{nodeLifecycle, "node-controller", "", 0, made(node.New)},
}

const nodeLifecycle = "node-lifecycle-controller"

// silent is an additional part of node-lifecycle-controller without simulation: it notices that the nodes of an earlier
// --simulate-pods have no kubelets.
func silent(o *options, controller string, log *slog.Logger) []func() workload.Controller {
	if o.simulatePods || controller != nodeLifecycle {
		return nil
	}
	return made(func() workload.Controller {
		c := simulation.Off()
		decide := c.Decide
		c.Decide = func(v workload.View, now time.Time) workload.Plan {
			p := decide(v, now)
			if p.Status != nil {
				log.Warn("--simulate-pods is off, but a simulated node exists; its condition Ready becomes Unknown",
					"node", v.Key.Name, "hint", "start with --simulate-pods, or delete the node and its pods")
			}
			return p
		}
		return c
	})
}

func made(controllers ...func() workload.Controller) []func() workload.Controller { return controllers }

func workloadNames() (names []string) {
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

// syncs are the numbers of concurrent passes of each of workloads, by its name.
type syncs map[string]*int

func (s *syncs) flags(f *pflag.FlagSet) {
	*s = syncs{}
	for _, w := range workloads {
		if w.syncs != "" {
			(*s)[w.name] = f.Int(w.syncs, w.workers, "maximum number of objects that "+w.name+" syncs concurrently")
		}
	}
}

// check validates the numbers: a controller without a worker would silently do nothing.
func (s syncs) check() error {
	for _, w := range workloads {
		if n := s[w.name]; n != nil && *n < 1 {
			return fmt.Errorf("--%s %d is less than 1", w.syncs, *n)
		}
	}
	return nil
}

// workers is a controller's number of concurrent passes; 0 for the engine's default.
func (s syncs) workers(name string) int {
	if n := s[name]; n != nil {
		return *n
	}
	return 0
}

// simulators is the number of concurrent passes of --simulate-pods.
const simulators = 32

// workers returns the functions, by name, that run the enabled ones, and --simulate-pods. They share one index.
func workers(
	o *options, on map[string]bool, api *apiserver.Server, d *data, log *slog.Logger,
) map[string]func(context.Context) {
	index := loopback.NewIndex(d.cache, d.types, d.decoder.Root)
	run := map[string]func(context.Context){}
	for _, w := range workloads {
		if !on[w.name] {
			continue
		}
		adapter := &loopback.Workloads{
			API: api.Loopback(authentication.ServiceAccount("kube-system", w.account), controllerManager), Cache: d.cache,
			Index: index,
		}
		run[w.name] = func(ctx context.Context) {
			var all sync.WaitGroup
			for _, c := range append(w.controllers[:len(w.controllers):len(w.controllers)], silent(o, w.name, log)...) {
				all.Go(func() { workload.Run(ctx, c(), adapter, workload.Options{Log: log, Workers: o.syncs.workers(w.name)}) })
			}
			all.Wait()
		}
	}
	if o.simulatePods {
		adapter := &loopback.Workloads{API: api.Loopback(authentication.Loopback, "kubelet"), Cache: d.cache, Index: index}
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
