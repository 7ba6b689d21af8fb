package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Action is the request of a remedy.
type Action string

// The actions. A remedy without one is advice.
const (
	Wait         Action = "Wait"       // no request is necessary
	Touch        Action = "Touch"      // write the object without a change of its meaning
	DeleteObject Action = "Delete"     // delete the object
	DeleteNow    Action = "DeleteNow"  // delete it with a grace period of 0
	RemoveItem   Action = "RemoveItem" // remove an item of a list of the object: a finalizer or an owner reference
)

// Remedy is something to do about a reason.
type Remedy struct {
	Text    string          `json:"text"` // what to do, and what to know before
	Action  Action          `json:"action,omitempty"`
	Object  ObjectReference `json:"object,omitzero"`   // the object of the action; zero for advice
	Command string          `json:"command,omitempty"` // a command for a shell; empty for advice and Wait
}

func advice(text string) Remedy { return Remedy{Text: text} }

// The advice about components.
var (
	componentRemedy = advice("check that the component that sets the finalizer is running, and read its logs")
	collectorRemedy = advice(
		"check that the garbage collector (kube-controller-manager) is running and may write, and read its logs")
)

func deletion(o ObjectReference, text string) Remedy {
	return Remedy{text, DeleteObject, o, "kubectl delete " + arguments(o)}
}

// remove returns the remedy of deleting an object that is not deleted together with another one.
func remove(o ObjectReference) Remedy { return deletion(o, "delete it") }

// The lists of RemoveItem, as JSON pointers.
const (
	finalizersList = "/metadata/finalizers"
	ownersList     = "/metadata/ownerReferences"
)

// notDone is the effect of the removal of a finalizer in general.
const notDone = "the work that it protects is then not done"

func (e *explainer) drop(o *Object, finalizer, effect string) Remedy {
	item := fmt.Sprintf("%s/%d", finalizersList, slices.Index(o.Finalizers, finalizer))
	return Remedy{"as a last resort, remove the finalizer by hand; " + effect, RemoveItem, e.ref(o),
		patch(e.ref(o), item, "", finalizer)}
}

// dropSpec removes a finalizer of a namespace's spec.finalizers by hand, through the subresource finalize.
func (e *explainer) dropSpec(o *Object, finalizer, effect string) Remedy {
	command := fmt.Sprintf("kubectl get namespace %[1]s -o json | jq %[2]s |"+
		" kubectl replace --raw /api/v1/namespaces/%[1]s/finalize -f -", shell(o.Name),
		shell(".spec.finalizers -= ["+jsonString(finalizer)+"]"))
	return Remedy{"as a last resort, remove the finalizer by hand; " + effect, RemoveItem, e.ref(o), command}
}

// releaseOwner removes the first reference with the uid by hand.
func (e *explainer) releaseOwner(o *Object, uid string) Remedy {
	i := slices.IndexFunc(o.Owners, func(r graph.Owner) bool { return r.UID == uid })
	return Remedy{"remove the reference by hand", RemoveItem, e.ref(o),
		patch(e.ref(o), fmt.Sprintf("%s/%d", ownersList, i), "/uid", uid)}
}

// patch returns the command that removes an item. It tests a value in the item first, so that it removes no other one
// if the list has changed.
func patch(o ObjectReference, item, tested, value string) string {
	return "kubectl patch " + arguments(o) + " --type=json -p " +
		shell(fmt.Sprintf(`[{"op":"test","path":%s,"value":%s},{"op":"remove","path":%s}]`,
			jsonString(item+tested), jsonString(value), jsonString(item)))
}

// arguments name an object on the command line of kubectl.
func arguments(o ObjectReference) string {
	words := shell(o.resource) + " " + shell(o.Name)
	if strings.HasPrefix(o.Name, "-") { // by itself it would be a flag, --all for example
		words = shell(o.resource + "/" + o.Name)
	}
	if o.Namespace != "" {
		words += " --namespace " + shell(o.Namespace)
	}
	return words
}

// wellKnown is the meaning of a finalizer.
type wellKnown struct {
	// Component removes the finalizer when Until holds. Both are empty if nothing is known of it.
	Component, Until string
	// Expected: the component is a part of every cluster with controllers. Previews assume that it removes the finalizer
	// from an object that nothing uses (Object.Uses).
	Expected bool
}

// known has the finalizers of Kubernetes and of widely used projects, by their documentation and code: by name, or by
// its first part, with the slash.
var known = map[string]wellKnown{
	"kubernetes.io/pvc-protection": {"persistentvolumeclaim-protection-controller", "no Pod uses the claim", true}, // F-04
	"kubernetes.io/pv-protection": {"persistentvolume-protection-controller",
		"the volume is not bound to a claim", true}, // F-03
	"kubernetes.io/vac-protection": {"volumeattributesclass-protection-controller",
		"no volume or claim uses the class", true}, // F-08
	"batch.kubernetes.io/job-tracking": {"job-controller", "the Job has counted the Pod, or is gone", true},
	"customresourcecleanup.apiextensions.k8s.io": {"CustomResourceDefinition controller (kube-apiserver)",
		"all custom resources of the CRD are gone", false},
	"service.kubernetes.io/load-balancer-cleanup": {"service-lb-controller (cloud-controller-manager)",
		"the load balancer is deleted", false},
	"resource.kubernetes.io/delete-protection": {"resourceclaim-controller",
		"no Pod uses the ResourceClaim and it is not allocated", true}, // F-17
	"networking.k8s.io/service-cidr-finalizer": {"service-cidr-controller",
		"each address in the range is in another one, too", true}, // F-16
	"scheduling.k8s.io/podgroup-protection": {"podgroup-protection-controller", "no Pod is in the group", true},
	"external-provisioner.volume.kubernetes.io/finalizer": {"CSI driver's external-provisioner",
		"the storage behind the volume is deleted", false},
	"external-attacher/": {"CSI driver's external-attacher", "the volume is detached", false},
	"snapshot.storage.kubernetes.io/": {"snapshot-controller and the CSI driver's external-snapshotter",
		"the snapshot is deleted, and nothing is restored from it", false},
	"finalizers.fluxcd.io": {"the Flux controller of the kind", "what the object applied is removed", false},
	"resources-finalizer.argocd.argoproj.io": {"Argo CD's application controller",
		"the resources of the application are deleted", false},
	"cluster.cluster.x-k8s.io":       {"Cluster API's controller", "the machines of the cluster are deleted", false},
	"machine.cluster.x-k8s.io":       {"Cluster API's controller", "the machine is deleted", false},
	"acme.cert-manager.io/finalizer": {"cert-manager's controller", "the challenge is cleaned up", false},
	"foregroundDeletion":             {"garbage-collector-controller", "no dependent blocks the deletion", false},
	"orphan":                         {"garbage-collector-controller", "no dependent refers to the object", false},
}

func lookup(finalizer string) wellKnown {
	return cmp.Or(known[finalizer], known[finalizer[:strings.Index(finalizer, "/")+1]])
}
