package server

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/autoscale"
	"github.com/kubecascade/kubecascade/controllers/certificates"
	"github.com/kubecascade/kubecascade/controllers/cronjob"
	"github.com/kubecascade/kubecascade/controllers/daemonset"
	"github.com/kubecascade/kubecascade/controllers/deployment"
	"github.com/kubecascade/kubecascade/controllers/devicetaint"
	"github.com/kubecascade/kubecascade/controllers/disruption"
	"github.com/kubecascade/kubecascade/controllers/endpoint"
	"github.com/kubecascade/kubecascade/controllers/ephemeral"
	"github.com/kubecascade/kubecascade/controllers/job"
	"github.com/kubecascade/kubecascade/controllers/node"
	"github.com/kubecascade/kubecascade/controllers/persistentvolume"
	"github.com/kubecascade/kubecascade/controllers/podgc"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/replicaset"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/controllers/statefulset"
	"github.com/kubecascade/kubecascade/controllers/tainteviction"
	"github.com/kubecascade/kubecascade/controllers/ttl"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/internal/controller"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/loopback"
)

// workloads are the controllers that use package workload, each with the service account that it has in
// kube-controller-manager (K cmd/kube-controller-manager/app).
var workloads = []struct {
	name, account string
	// controllers are its parts.
	controllers []func() workload.Controller
}{
	{"endpoints-controller", "endpoint-controller", made(endpoint.Endpoints)},
	{"endpointslice-controller", "endpointslice-controller", made(endpoint.Slices)},
	{"endpointslice-mirroring-controller", "endpointslicemirroring-controller", made(endpoint.Mirror)},
	{"replicationcontroller-controller", "replication-controller", made(replicaset.NewReplication)},
	{"replicaset-controller", "replicaset-controller", made(replicaset.New)},
	{"deployment-controller", "deployment-controller", made(deployment.New)},
	{"job-controller", "job-controller", made(job.New, job.Orphans)},
	{"cronjob-controller", "cronjob-controller", made(cronjob.New)},
	{controller.StatefulSets, "statefulset-controller", nil},
	{"daemonset-controller", "daemon-set-controller", made(daemonset.New)},
	{"disruption-controller", "disruption-controller", made(disruption.Budgets, disruption.Pods)},
	{"ephemeral-volume-controller", "ephemeral-volume-controller", made(ephemeral.New)},
	{"ttl-after-finished-controller", "ttl-after-finished-controller", made(ttl.New)},
	{"pod-garbage-collector-controller", "pod-garbage-collector", made(podgc.New)},
	{controller.NodeLifecycle, "node-controller", made(node.New)},
	{"taint-eviction-controller", "node-controller", made(tainteviction.New)},
	{controller.DeviceTaints, "device-taint-eviction-controller", nil},
	{controller.Signing, "certificate-controller", nil},
	{"certificatesigningrequest-cleaner-controller", "certificate-controller", made(certificates.Cleaning)},
	{"podcertificaterequest-cleaner-controller", "podcertificaterequestcleaner", made(certificates.CleaningPods)},
	{controller.TrustBundles, "kube-apiserver-serving-clustertrustbundle-publisher", nil},
	{"persistentvolume-binder-controller", "persistent-volume-binder",
		made(persistentvolume.Claims, persistentvolume.Volumes)},
}

// configured are the parts of controllers that need more than the API: the authority's key or certificate, feature
// gates, or a memory for each server.
func configured(
	gates map[string]bool, keys *pki.Bundle, name string, log *slog.Logger,
) []func() workload.Controller {
	switch name {
	case controller.StatefulSets:
		o := statefulset.Options{Single: !gates[featuregates.MaxUnavailableStatefulSet]}
		return made(func() workload.Controller { return statefulset.New(o) })
	case controller.DeviceTaints:
		return made(devicetaint.New())
	case controller.Signing:
		return made(func() workload.Controller {
			return certificates.Signing(certificates.Options{Authority: keys, Log: log})
		})
	case controller.TrustBundles:
		anchors := certificates.Anchors(keys.AuthorityPEM())
		return made(func() workload.Controller { return certificates.Publishing(anchors) })
	}
	return nil
}

// silent is an additional part of node-lifecycle-controller without simulation: it notices that the nodes of an earlier
// --simulate-pods have no kubelets.
func silent(simulated bool, name string, log *slog.Logger) []func() workload.Controller {
	if simulated || name != controller.NodeLifecycle {
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

// simulators is the number of concurrent passes of --simulate-pods.
const simulators = 32

// workers returns the functions, by name, that run the enabled ones, and --simulate-pods. They share one index.
// loops is how many loops they have together.
func workers(
	cfg *Config, gates, on map[string]bool, api *apiserver.Server, d *data, keys *pki.Bundle, log *slog.Logger,
) (run map[string]func(context.Context), loops int) {
	index := loopback.NewIndex(d.cache, d.types, d.decoder.Root)
	run = map[string]func(context.Context){}
	for _, w := range workloads {
		if !on[w.name] || w.name == controller.TrustBundles && !serves(d.types, workload.ClusterTrustBundles) {
			continue
		}
		adapter := &loopback.Client{
			API: api.Loopback(authentication.ServiceAccount("kube-system", w.account), controllerManager), Cache: d.cache,
			Index: index,
		}
		parts := slices.Concat(w.controllers, silent(cfg.Simulate, w.name, log), configured(gates, keys, w.name, log))
		loops += len(parts)
		run[w.name] = func(ctx context.Context) {
			var all sync.WaitGroup
			for _, c := range parts {
				all.Go(func() { workload.Run(ctx, c(), adapter, workload.Options{Log: log, Workers: cfg.workers(w.name)}) })
			}
			all.Wait()
		}
	}
	if on[controller.Autoscalers] {
		loops++
		run[controller.Autoscalers] = autoscaler(cfg, gates, api, d, index, log)
	}
	if on[controller.Scheduler] || cfg.Simulate && !slices.Contains(cfg.Controllers, "-"+controller.Scheduler) {
		loops++
		adapter := &loopback.Client{
			API: api.Loopback(authentication.Loopback, controller.Scheduler), Cache: d.cache, Index: index,
		}
		run[controller.Scheduler] = func(ctx context.Context) {
			workload.Run(ctx, simulation.Scheduler(cfg.Simulate, cfg.Simulation), adapter,
				workload.Options{Log: log, Workers: cfg.workers(controller.Scheduler)})
		}
	}
	if cfg.Simulate {
		loops += 3
		adapter := &loopback.Client{API: api.Loopback(authentication.Loopback, "kubelet"), Cache: d.cache, Index: index}
		maps.Copy(run, kubelets(cfg, adapter, log))
	}
	return run, loops
}

// serves reports whether a resource is served in any version. Otherwise the publisher of trust bundles does not start
// (K cmd/kube-controller-manager/app/certificates.go: clusterTrustBundlesAvailable).
func serves(types *resources.Types, r workload.Resource) bool {
	return slices.ContainsFunc(types.All(), func(served *resources.Resource) bool {
		return served.Group == r.Group && served.Plural == r.Plural
	})
}

// kubelets returns the functions that run the parts of --simulate-pods besides the scheduler. No monitor waits for the
// leases: they are renewed all the time.
func kubelets(cfg *Config, adapter *loopback.Client, log *slog.Logger) map[string]func(context.Context) {
	return map[string]func(context.Context){
		"node simulation": func(ctx context.Context) {
			workload.Run(ctx, simulation.Node("v"+KubernetesVersion, cfg.Simulation), adapter, workload.Options{Log: log})
		},
		"lease simulation": func(ctx context.Context) {
			workload.Run(reconcile.Unmonitored(ctx), simulation.Leases(), adapter, workload.Options{Log: log, Workers: 1})
		},
		"volume simulation": func(ctx context.Context) {
			workload.Run(ctx, persistentvolume.Scheduling(), adapter, workload.Options{Log: log, Workers: 1})
		},
		"pod simulation": func(ctx context.Context) {
			workload.Run(ctx, simulation.Pods(cfg.Simulation), adapter, workload.Options{Log: log, Workers: simulators})
		},
	}
}

// autoscaler returns the function that runs horizontal-pod-autoscaler-controller. What simulated pods use is what
// metrics.k8s.io says.
func autoscaler(
	cfg *Config, gates map[string]bool, api *apiserver.Server, d *data, index *loopback.Index, log *slog.Logger,
) func(context.Context) {
	o := cfg.Autoscaler
	o.NeverToZero = !gates[featuregates.HPAScaleToZero]
	o.Workers, o.Log = cfg.workers(controller.Autoscalers), log
	if cfg.Simulate {
		o.Measure = simulation.Metrics
	}
	adapter := &loopback.Client{
		API:   api.Loopback(authentication.ServiceAccount("kube-system", "horizontal-pod-autoscaler"), controllerManager),
		Cache: d.cache, Index: index,
	}
	return func(ctx context.Context) { autoscale.Run(ctx, adapter, o) }
}
