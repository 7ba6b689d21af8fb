package controllers

import (
	"github.com/kubecascade/kubecascade/controllers/certificates"
	"github.com/kubecascade/kubecascade/controllers/cronjob"
	"github.com/kubecascade/kubecascade/controllers/daemonset"
	"github.com/kubecascade/kubecascade/controllers/deployment"
	"github.com/kubecascade/kubecascade/controllers/endpoint"
	"github.com/kubecascade/kubecascade/controllers/job"
	"github.com/kubecascade/kubecascade/controllers/node"
	"github.com/kubecascade/kubecascade/controllers/persistentvolume"
	"github.com/kubecascade/kubecascade/controllers/replicaset"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/controllers/statefulset"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/internal/featuregates"
)

// table has the controllers of this program, in the order of --help.
var table = []Controller{
	{Name: GarbageCollector, Flag: "concurrent-gc-syncs", account: "generic-garbage-collector", parts: collector,
		What: "concurrent requests of the garbage collector; 0 chooses it automatically"},
	{Name: Namespaces, Flag: "concurrent-namespace-syncs", Workers: 10, Least: 1, account: "namespace-controller",
		What: "namespaces whose content is deleted concurrently", parts: namespaces},
	{Name: "persistentvolume-protection-controller", Workers: 4, account: "pv-protection-controller",
		parts: engine(volumeProtection)},
	{Name: "persistentvolumeclaim-protection-controller", Workers: 4, account: "pvc-protection-controller",
		parts: claims},
	{Name: "volumeattributesclass-protection-controller", Workers: 4,
		account: "volumeattributesclass-protection-controller", parts: engine(classProtection)},
	{Name: "resourcequota-controller", Flag: "concurrent-resource-quota-syncs", Workers: 5, Least: 1,
		What:    "namespaces whose resource quotas are recalculated concurrently",
		account: "resourcequota-controller", parts: quotas},
	{Name: "clusterrole-aggregation-controller", Workers: 1, account: "clusterrole-aggregation-controller",
		manager: "clusterrole-aggregation-controller", parts: engine(aggregatedRoles)},
	{Name: "validatingadmissionpolicy-status-controller", Workers: 1,
		account: "validatingadmissionpolicy-status-controller", manager: "validatingadmissionpolicy-status",
		parts: one(func(s *setup) workload.Controller { return policyStatus(s.process.CheckTypes) })},
	{Name: "storage-version-migrator-controller", account: "storage-version-migrator-controller",
		parts: migrations},
	{Name: "serviceaccount-controller", Workers: 1, account: "service-account-controller",
		parts: engine(defaultAccounts)},
	{Name: "root-ca-certificate-publisher-controller", Workers: 1, account: "root-ca-cert-publisher",
		parts: one(func(s *setup) workload.Controller {
			return rootCertificates(string(s.process.Certificates))
		})},
	syncs("endpoints-controller", "concurrent-endpoint-syncs", 5, "endpoint-controller",
		engine(endpoint.Endpoints)),
	syncs("endpointslice-controller", "concurrent-service-endpoint-syncs", 5, "endpointslice-controller",
		engine(endpoint.Slices)),
	syncs("endpointslice-mirroring-controller", "mirroring-concurrent-service-endpoint-syncs", 5,
		"endpointslicemirroring-controller", engine(endpoint.Mirror)),
	syncs("replicationcontroller-controller", "concurrent-rc-syncs", 5, "replication-controller",
		engine(replicaset.NewReplication)),
	syncs("replicaset-controller", "concurrent-replicaset-syncs", 5, "replicaset-controller",
		engine(replicaset.New)),
	syncs("deployment-controller", "concurrent-deployment-syncs", 5, "deployment-controller",
		engine(deployment.New)),
	syncs("job-controller", "concurrent-job-syncs", 5, "job-controller", engine(job.New, job.Orphans)),
	syncs("cronjob-controller", "concurrent-cron-job-syncs", 5, "cronjob-controller", engine(cronjob.New)),
	syncs("statefulset-controller", "concurrent-statefulset-syncs", 5, "statefulset-controller",
		one(func(s *setup) workload.Controller {
			return statefulset.New(s.process.Gates[featuregates.MaxUnavailableStatefulSet])
		})),
	syncs("daemonset-controller", "concurrent-daemonset-syncs", 2, "daemon-set-controller", engine(daemonset.New)),
	{Name: "disruption-controller", account: "disruption-controller", parts: budgets},
	syncs("horizontal-pod-autoscaler-controller", "concurrent-horizontal-pod-autoscaler-syncs", 5,
		"horizontal-pod-autoscaler", autoscalers),
	syncs("ephemeral-volume-controller", "concurrent-ephemeralvolume-syncs", 5, "ephemeral-volume-controller",
		engine(persistentvolume.Ephemeral)),
	syncs("ttl-after-finished-controller", "concurrent-ttl-after-finished-syncs", 5,
		"ttl-after-finished-controller", engine(finishedJobs)),
	{Name: "pod-garbage-collector-controller", account: "pod-garbage-collector", parts: engine(node.OrphanedPods)},
	{Name: "node-lifecycle-controller", account: "node-controller", parts: nodes},
	{Name: "taint-eviction-controller", account: "node-controller", parts: engine(node.Eviction)},
	{Name: "device-taint-eviction-controller", Workers: 8, // --concurrent-device-taint-eviction-syncs
		account: "device-taint-eviction-controller", parts: deviceTaints},
	{Name: "certificatesigningrequest-signing-controller", account: "certificate-controller",
		parts: one(func(s *setup) workload.Controller {
			return certificates.Signing(certificates.Options{Authority: s.process.Authority, Log: s.process.Log})
		})},
	{Name: "certificatesigningrequest-cleaner-controller", account: "certificate-controller",
		parts: engine(certificates.Cleaning)},
	{Name: "podcertificaterequest-cleaner-controller", account: "podcertificaterequestcleaner",
		parts: engine(certificates.CleaningPods)},
	{Name: "kube-apiserver-serving-clustertrustbundle-publisher-controller", Workers: 1, parts: trustBundles,
		account: "kube-apiserver-serving-clustertrustbundle-publisher"},
	{Name: "persistentvolume-binder-controller", Workers: 1, // two claims must not choose volumes at the same time
		account: "persistent-volume-binder", parts: engine(persistentvolume.Claims, persistentvolume.Volumes)},
	{Name: "service-cidr-controller", Workers: 1, // of two equal ranges only one may go while they are used
		account: "service-cidrs-controller", manager: "service-cidr-controller", parts: engine(serviceRanges)},
	// The scheduler also runs without the simulation, if it is on.
	{Name: Scheduler, Workers: 32, Off: true, manager: Scheduler, parts: one(func(s *setup) workload.Controller {
		o := s.process.Simulation
		if s.process.Simulate {
			o.Volumes = persistentvolume.Needs
		}
		return simulation.Scheduler(s.process.Simulate, o)
	})},
}
