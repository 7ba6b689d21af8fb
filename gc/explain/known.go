package explain

import "strings"

// Known is a finalizer whose meaning is known.
type Known struct {
	// Finalizer is the name, or if it ends with a slash the beginning of names.
	Finalizer string
	// Component removes it, when Until holds.
	Component, Until string
	// Expected: the component is a part of every cluster with controllers, and the condition comes true as soon as the
	// deletion goes on. Previews assume that it is removed.
	Expected bool
}

// known are the finalizers of Kubernetes and of widely used projects, by what their documentation and code say.
var known = []Known{
	{"kubernetes.io/pvc-protection", "persistentvolumeclaim-protection-controller",
		"no Pod uses the claim", true}, // F-02
	{"kubernetes.io/pv-protection", "persistentvolume-protection-controller",
		"the volume is not bound to a claim", true}, // F-03
	{"kubernetes.io/vac-protection", "volumeattributesclass-protection-controller",
		"no volume or claim uses the class", true},
	{"batch.kubernetes.io/job-tracking", "job-controller", "the Job has counted the Pod, or is gone", true},
	{"customresourcecleanup.apiextensions.k8s.io", "CustomResourceDefinition controller (kube-apiserver)",
		"all custom resources of the CRD are gone", false},
	{"service.kubernetes.io/load-balancer-cleanup", "service-lb-controller (cloud-controller-manager)",
		"the load balancer is deleted", false},
	{"resource.kubernetes.io/delete-protection", "resourceclaim-controller",
		"no Pod uses the ResourceClaim and it is not allocated", false},
	{"scheduling.k8s.io/podgroup-protection", "podgroup-protection-controller", "no Pod is in the group", true},
	{"external-provisioner.volume.kubernetes.io/finalizer", "CSI driver's external-provisioner",
		"the storage behind the volume is deleted", false},
	{"external-attacher/", "CSI driver's external-attacher", "the volume is detached", false},
	{"snapshot.storage.kubernetes.io/", "snapshot-controller and the CSI driver's external-snapshotter",
		"the snapshot is deleted, and nothing is restored from it", false},
	{"finalizers.fluxcd.io", "the Flux controller of the kind", "what the object applied is removed", false},
	{"resources-finalizer.argocd.argoproj.io", "Argo CD's application controller",
		"the resources of the application are deleted", false},
	{"cluster.cluster.x-k8s.io", "Cluster API's controller", "the machines of the cluster are deleted", false},
	{"machine.cluster.x-k8s.io", "Cluster API's controller", "the machine is deleted", false},
	{"acme.cert-manager.io/finalizer", "cert-manager's controller", "the challenge is cleaned up", false},
	{"foregroundDeletion", "garbage-collector-controller", "no dependent blocks the deletion", false},
	{"orphan", "garbage-collector-controller", "no dependent refers to the object", false},
}

// Lookup returns the Known of a finalizer; nil if there is none.
func Lookup(finalizer string) *Known {
	for i := range known {
		k := &known[i]
		prefix := strings.HasSuffix(k.Finalizer, "/")
		if k.Finalizer == finalizer || prefix && strings.HasPrefix(finalizer, k.Finalizer) {
			return k
		}
	}
	return nil
}
