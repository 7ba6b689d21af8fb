package controller

import "slices"

// Names that code outside of this package needs.
const (
	GarbageCollector = "garbage-collector-controller"
	Namespaces       = "namespace-controller"
	Volumes          = "persistentvolume-protection-controller"
	Claims           = "persistentvolumeclaim-protection-controller"
	Classes          = "volumeattributesclass-protection-controller"
	ResourceQuotas   = "resourcequota-controller"
	Roles            = "clusterrole-aggregation-controller"
	Policies         = "validatingadmissionpolicy-status-controller"
	Accounts         = "serviceaccount-controller"
	Certificates     = "root-ca-certificate-publisher-controller"
	NodeLifecycle    = "node-lifecycle-controller"
	Signing          = "certificatesigningrequest-signing-controller"
	TrustBundles     = "kube-apiserver-serving-clustertrustbundle-publisher-controller"
	DeviceTaints     = "device-taint-eviction-controller"
	StatefulSets     = "statefulset-controller"
	Autoscalers      = "horizontal-pod-autoscaler-controller"
	Migrations       = "storage-version-migrator-controller"
	// Scheduler is none of kube-controller-manager's, and off by default.
	Scheduler = "kube-scheduler"
)

// Controller is what can be set of a controller.
type Controller struct {
	Name string
	// Flag names the flag for Workers; empty if the controller has none.
	Flag string
	// Workers is the default number of objects that it works on concurrently, and Least the minimum (K
	// cmd/kube-controller-manager/app/options; pkg/controller/*/config/v1alpha1/defaults.go). The garbage collector
	// chooses the number if it is 0.
	Workers, Least int
	// What describes Workers, after "maximum number of".
	What string
	// Off says that '*' doesn't enable it.
	Off bool
}

var controllers = []Controller{
	{Name: GarbageCollector, Flag: "concurrent-gc-syncs",
		What: "concurrent requests of the garbage collector; 0 chooses it automatically"},
	{Name: Namespaces, Flag: "concurrent-namespace-syncs", Workers: 10, Least: 1,
		What: "namespaces whose content is deleted concurrently"},
	{Name: Volumes},
	{Name: Claims},
	{Name: Classes},
	{Name: ResourceQuotas, Flag: "concurrent-resource-quota-syncs", Workers: 5, Least: 1,
		What: "namespaces whose resource quotas are recalculated concurrently"},
	{Name: Roles},
	{Name: Policies},
	{Name: Migrations},
	{Name: Accounts},
	{Name: Certificates},
	workload("endpoints-controller", "concurrent-endpoint-syncs", 5),
	workload("endpointslice-controller", "concurrent-service-endpoint-syncs", 5),
	workload("endpointslice-mirroring-controller", "mirroring-concurrent-service-endpoint-syncs", 5),
	workload("replicationcontroller-controller", "concurrent-rc-syncs", 5),
	workload("replicaset-controller", "concurrent-replicaset-syncs", 5),
	workload("deployment-controller", "concurrent-deployment-syncs", 5),
	workload("job-controller", "concurrent-job-syncs", 5),
	workload("cronjob-controller", "concurrent-cron-job-syncs", 5),
	workload(StatefulSets, "concurrent-statefulset-syncs", 5),
	workload("daemonset-controller", "concurrent-daemonset-syncs", 2),
	{Name: "disruption-controller"},
	workload(Autoscalers, "concurrent-horizontal-pod-autoscaler-syncs", 5),
	workload("ephemeral-volume-controller", "concurrent-ephemeralvolume-syncs", 5),
	workload("ttl-after-finished-controller", "concurrent-ttl-after-finished-syncs", 5),
	{Name: "pod-garbage-collector-controller"},
	{Name: NodeLifecycle},
	{Name: "taint-eviction-controller"},
	{Name: DeviceTaints, Workers: 8}, // --concurrent-device-taint-eviction-syncs
	{Name: Signing},
	{Name: "certificatesigningrequest-cleaner-controller"},
	{Name: "podcertificaterequest-cleaner-controller"},
	{Name: TrustBundles, Workers: 1},
	{Name: "persistentvolume-binder-controller", Workers: 1}, // two claims must not choose a volume at a time
	{Name: Scheduler, Workers: 32, Off: true},
}

func workload(name, flag string, workers int) Controller {
	return Controller{Name: name, Flag: flag, Workers: workers, Least: 1,
		What: "objects that " + name + " syncs concurrently"}
}

// All are the controllers of this program.
func All() []Controller { return slices.Clone(controllers) }

// Of returns the controller of that name; false if this program has none.
func Of(name string) (Controller, bool) {
	if i := slices.IndexFunc(controllers, func(c Controller) bool { return c.Name == name }); i >= 0 {
		return controllers[i], true
	}
	return Controller{}, false
}
