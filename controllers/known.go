package controllers

import "slices"

// known has the controllers of kube-controller-manager v1.37, with their names before v1.28 that --controllers still
// accepts (K cmd/kube-controller-manager/names/controller_names.go, and aliases in
// cmd/kube-controller-manager/app/*.go; the cloud's: k8s.io/cloud-provider/names).
var known = []struct{ name, alias string }{
	{"serviceaccount-token-controller", "serviceaccount-token"},
	{"endpoints-controller", "endpoint"},
	{"endpointslice-controller", "endpointslice"},
	{"endpointslice-mirroring-controller", "endpointslicemirroring"},
	{"replicationcontroller-controller", "replicationcontroller"},
	{"pod-garbage-collector-controller", "podgc"},
	{"resourcequota-controller", "resourcequota"},
	{"namespace-controller", "namespace"},
	{"serviceaccount-controller", "serviceaccount"},
	{"garbage-collector-controller", "garbagecollector"},
	{"daemonset-controller", "daemonset"},
	{"job-controller", "job"},
	{"deployment-controller", "deployment"},
	{"replicaset-controller", "replicaset"},
	{"horizontal-pod-autoscaler-controller", "horizontalpodautoscaling"},
	{"disruption-controller", "disruption"},
	{"statefulset-controller", "statefulset"},
	{"cronjob-controller", "cronjob"},
	{"certificatesigningrequest-signing-controller", "csrsigning"},
	{"certificatesigningrequest-approving-controller", "csrapproving"},
	{"certificatesigningrequest-cleaner-controller", "csrcleaner"},
	{"podcertificaterequest-cleaner-controller", ""},
	{"ttl-controller", "ttl"},
	{"bootstrap-signer-controller", "bootstrapsigner"},
	{"token-cleaner-controller", "tokencleaner"},
	{"node-ipam-controller", "nodeipam"},
	{"node-lifecycle-controller", "nodelifecycle"},
	{"taint-eviction-controller", ""},
	{"device-taint-eviction-controller", ""},
	{"service-lb-controller", "service"},
	{"node-route-controller", "route"},
	{"cloud-node-lifecycle-controller", "cloud-node-lifecycle"},
	{"persistentvolume-binder-controller", "persistentvolume-binder"},
	{"persistentvolume-attach-detach-controller", "attachdetach"},
	{"persistentvolume-expander-controller", "persistentvolume-expander"},
	{"clusterrole-aggregation-controller", "clusterrole-aggregation"},
	{"persistentvolumeclaim-protection-controller", "pvc-protection"},
	{"persistentvolume-protection-controller", "pv-protection"},
	{"volumeattributesclass-protection-controller", ""},
	{"ttl-after-finished-controller", "ttl-after-finished"},
	{"root-ca-certificate-publisher-controller", "root-ca-cert-publisher"},
	{"kube-apiserver-serving-clustertrustbundle-publisher-controller", ""},
	{"ephemeral-volume-controller", "ephemeral-volume"},
	{"storageversion-garbage-collector-controller", "storage-version-gc"},
	{"resourceclaim-controller", "resource-claim-controller"},
	{"resourcepoolstatusrequest-controller", ""},
	{"podgroup-protection-controller", ""},
	{"legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner"},
	{"validatingadmissionpolicy-status-controller", ""},
	{"service-cidr-controller", ""},
	{"storage-version-migrator-controller", ""},
	{"selinux-warning-controller", ""},
}

// Find returns the name of the controller for a word of --controllers, which is its name or an alias; empty if neither
// this program nor kube-controller-manager has such a controller.
func Find(word string) string {
	if word == Scheduler {
		return word
	}
	for _, k := range known {
		if word != "" && (word == k.name || word == k.alias) {
			return k.name
		}
	}
	return ""
}

// Absent returns the controllers of kube-controller-manager that this program doesn't have, in alphabetical order.
func Absent() (names []string) {
	here := Names()
	for _, k := range known {
		if !slices.Contains(here, k.name) {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	return names
}
