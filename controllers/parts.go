package controllers

import (
	"context"

	"github.com/kubecascade/kubecascade/controllers/autoscale"
	"github.com/kubecascade/kubecascade/controllers/certificates"
	"github.com/kubecascade/kubecascade/controllers/crd"
	"github.com/kubecascade/kubecascade/controllers/devicetaint"
	"github.com/kubecascade/kubecascade/controllers/migration"
	"github.com/kubecascade/kubecascade/controllers/namespace"
	"github.com/kubecascade/kubecascade/controllers/node"
	"github.com/kubecascade/kubecascade/controllers/persistentvolume"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/controllers/statefulset"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/loopback"
)

// server is the field manager of the server itself.
const server = "kube-apiserver"

// ofServer are the controllers that are a part of kube-apiserver, so they always run.
var ofServer = []Controller{
	{Name: "system-namespaces-controller", Workers: 1, manager: server, parts: engine(keepSystemNamespaces)},
	{Name: "customresourcedefinition-controller", manager: server, parts: definitions},
	{Name: "apiservice-controller", Workers: 5, manager: server, parts: registrations},
	{Name: "priority-and-fairness-controller", Workers: 1, manager: flowConsumer, parts: flowParts},
}

func definitions(s *setup) []run {
	return []run{crd.New(s.client(), s.Webhooks, s.Log).Run}
}

func registrations(s *setup) []run {
	a := &apiServices{types: s.client().API.Types(), unreachable: s.Unreachable}
	return engine(a.controller)(s)
}

// kubelet is the field manager of the simulation.
const kubelet = "kubelet"

// simulated are the parts of --simulate-pods besides the scheduler. No monitor waits for the leases: they are renewed
// all the time.
var simulated = []Controller{
	{Name: "node simulation", manager: kubelet, parts: one(func(s *setup) workload.Controller {
		return simulation.Node("v"+s.Version, s.Simulation)
	})},
	{Name: "lease simulation", Workers: 1, manager: kubelet, parts: engine(simulation.Leases), unmonitored: true},
	{Name: "volume simulation", Workers: 1, manager: kubelet, parts: engine(persistentvolume.Scheduling)},
	{Name: "pod simulation", Workers: 32, manager: kubelet, parts: one(func(s *setup) workload.Controller {
		return simulation.Pods(s.Simulation)
	})},
}

// scheduler also runs without the simulation, if it is on.
func scheduler(s *setup) []run {
	return one(func(s *setup) workload.Controller { return simulation.Scheduler(s.Simulate, s.Simulation) })(s)
}

func collector(s *setup) []run { return []run{s.Collector(s.client())} }

func namespaces(s *setup) []run {
	c := s.client()
	api := &loopback.Namespaces{API: c.API, Cache: c.Cache}
	return []run{namespace.New(api, namespace.Options{Workers: s.workers(), Log: s.Log}).Run}
}

// migrations rewrites stored objects (V-087).
func migrations(s *setup) []run {
	client := func(manager string) *loopback.Client { return s.Client(s.account, manager) }
	return []run{func(ctx context.Context) { migration.Run(ctx, client, s.Log) }}
}

// claims maintains the condition Unused of claims, too, if the gate is on (V-083).
func claims(s *setup) []run {
	made := []func() workload.Controller{claimProtection}
	if s.Gates[featuregates.PersistentVolumeClaimUnusedSinceTime] {
		made = append(made, unusedClaims)
	}
	return engine(made...)(s)
}

func policies(s *setup) []run {
	return engine(func() workload.Controller { return policyStatus(s.CheckTypes) })(s)
}

func certificateMaps(s *setup) []run {
	return engine(func() workload.Controller { return rootCertificates(string(s.Certificates)) })(s)
}

func statefulSets(s *setup) []run {
	o := statefulset.Options{Single: !s.Gates[featuregates.MaxUnavailableStatefulSet]}
	return engine(func() workload.Controller { return statefulset.New(o) })(s)
}

// nodes notices the nodes of an earlier simulation, too.
func nodes(s *setup) []run {
	made := []func() workload.Controller{node.Lifecycle}
	if !s.Simulate {
		made = append(made, s.silent)
	}
	return engine(made...)(s)
}

// deviceTaints has two parts that share what they remember.
func deviceTaints(s *setup) []run { return engine(devicetaint.New())(s) }

func signing(s *setup) []run {
	o := certificates.Options{Authority: s.Authority, Log: s.Log}
	return engine(func() workload.Controller { return certificates.Signing(o) })(s)
}

// trustBundles doesn't run if the resource isn't served in any version (K
// cmd/kube-controller-manager/app/certificates.go: clusterTrustBundlesAvailable).
func trustBundles(s *setup) []run {
	if !s.serves(workload.ClusterTrustBundles) {
		return nil
	}
	anchors := certificates.Anchors(s.Certificates)
	return engine(func() workload.Controller { return certificates.Publishing(anchors) })(s)
}

// autoscalers reads the usage of simulated pods from the simulation, as metrics.k8s.io reports it.
func autoscalers(s *setup) []run {
	o, api := s.Autoscaler, s.client()
	o.NeverToZero = !s.Gates[featuregates.HPAScaleToZero]
	o.Workers, o.Log = s.workers(), s.Log
	if s.Simulate {
		o.Measure = simulation.Metrics
	}
	return []run{func(ctx context.Context) { autoscale.Run(ctx, api, o) }}
}
