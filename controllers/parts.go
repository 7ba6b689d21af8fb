package controllers

import (
	"context"

	"github.com/kubecascade/kubecascade/controllers/autoscale"
	"github.com/kubecascade/kubecascade/controllers/certificates"
	"github.com/kubecascade/kubecascade/controllers/devicetaint"
	"github.com/kubecascade/kubecascade/controllers/disruption"
	"github.com/kubecascade/kubecascade/controllers/namespace"
	"github.com/kubecascade/kubecascade/controllers/node"
	"github.com/kubecascade/kubecascade/controllers/persistentvolume"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/loopback"
)

// Server is the field manager of the server itself, and the name for work that belongs to none of its controllers.
const Server = "kube-apiserver"

// ofServer are the controllers that are a part of kube-apiserver, so they always run.
var ofServer = []Controller{
	{Name: "system-namespaces-controller", Workers: 1, manager: Server, parts: engine(keepSystemNamespaces)},
	{Name: repairController, manager: Server, parts: engine(clusterIPs, leakedAddresses)},
	{Name: "customresourcedefinition-controller", manager: Server, parts: definitions},
	{Name: "apiservice-controller", Workers: 5, manager: Server, parts: registrations},
	{Name: "priority-and-fairness-controller", Workers: 1, manager: flowConsumer, parts: flowParts},
	{Name: Server, manager: Server, parts: firstObjects},
}

func definitions(s *setup) []run {
	c := &CustomResourceDefinitions{
		client: s.client(), webhooks: s.process.Webhooks, log: s.process.Log, known: map[string]knownDefinition{}}
	return []run{c.Run}
}

func registrations(s *setup) []run {
	a := &apiServices{types: s.client().API.Types(), check: s.process.Aggregator.Check}
	return engine(a.controller)(s)
}

// Kubelet is the field manager of the simulation.
const Kubelet = "kubelet"

// simulated has the parts of --simulate-pods besides the scheduler. No monitor waits for the leases: they are renewed
// all the time.
var simulated = []Controller{
	{Name: "node simulation", manager: Kubelet, parts: one(func(s *setup) workload.Controller {
		return simulation.Node("v"+s.process.Version, s.process.Simulation)
	})},
	{Name: "lease simulation", Workers: 1, manager: Kubelet, parts: engine(simulation.Leases), unmonitored: true},
	{Name: "volume simulation", Workers: 1, manager: Kubelet, parts: engine(persistentvolume.Scheduling,
		persistentvolume.Provisioning, persistentvolume.Deleting)},
	{Name: "pod simulation", Workers: 32, manager: Kubelet, parts: one(func(s *setup) workload.Controller {
		return simulation.Pods(s.process.Simulation)
	})},
}

func collector(s *setup) []run { return []run{s.process.Collector(s.client())} }

func namespaces(s *setup) []run {
	c := s.client()
	api := &loopback.Namespaces{API: c.API, Cache: c.Cache, Others: s.process.Aggregator}
	return []run{func(ctx context.Context) { namespace.Run(ctx, api, s.workers(), s.process.Log) }}
}

// migrations rewrites stored objects (V-087).
func migrations(s *setup) []run {
	client := func(manager string) *loopback.Client { return s.process.Client(s.controller.account, manager) }
	return []run{func(ctx context.Context) { migrate(ctx, client, s.process.Log) }}
}

// claims maintains the condition Unused of claims, too, if the gate is on (V-083).
func claims(s *setup) []run {
	made := []func() workload.Controller{claimProtection}
	if s.process.Gates[featuregates.PersistentVolumeClaimUnusedSinceTime] {
		made = append(made, unusedClaims)
	}
	return engine(made...)(s)
}

// nodes also handles the nodes of an earlier simulation.
func nodes(s *setup) []run {
	made := []func() workload.Controller{node.Lifecycle}
	if !s.process.Simulate {
		made = append(made, func() workload.Controller { return simulation.Off(s.process.Log) })
	}
	return engine(made...)(s)
}

// budgets reads scales with its client.
func budgets(s *setup) []run {
	scales := s.client().Scale
	return engine(func() workload.Controller { return disruption.Budgets(scales) }, disruption.Pods)(s)
}

// deviceTaints has two parts that share their state.
func deviceTaints(s *setup) []run { return engine(devicetaint.New())(s) }

// trustBundles doesn't run if the resource isn't served in any version (K
// cmd/kube-controller-manager/app/certificates.go: clusterTrustBundlesAvailable).
func trustBundles(s *setup) []run {
	if !s.serves(workload.ClusterTrustBundles) {
		return nil
	}
	anchors := certificates.Anchors(s.process.Certificates)
	return engine(func() workload.Controller { return certificates.Publishing(anchors) })(s)
}

// autoscalers reads the usage of simulated pods from the simulation, as metrics.k8s.io reports it, and other metrics
// from the servers of APIServices.
func autoscalers(s *setup) []run {
	o := autoscale.Options{Settings: s.process.Autoscaler}
	api := &loopback.Autoscaler{Client: s.client(), Others: s.process.Aggregator}
	o.NeverToZero, o.Log = !s.process.Gates[featuregates.HPAScaleToZero], s.process.Log
	if s.process.Simulate {
		o.Measure = simulation.Metrics
	}
	return engine(func() workload.Controller { return autoscale.New(api, o) })(s)
}
