package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Action is the request of a remedy.
type Action string

// The actions. A remedy without one is advice.
const (
	// Wait: no request is necessary.
	Wait Action = "Wait"
	// Touch writes the object without a change of its meaning.
	Touch Action = "Touch"
	// DeleteObject deletes the object; DeleteNow does with a grace period of 0.
	DeleteObject Action = "Delete"
	DeleteNow    Action = "DeleteNow"
	// RemoveItem removes an item of a list of the object: a finalizer or an owner reference.
	RemoveItem Action = "RemoveItem"
)

// Remedy is something to do about a reason.
type Remedy struct {
	// Text is what to do, and what to know before.
	Text   string `json:"text"`
	Action Action `json:"action,omitempty"`
	// Object is the object of the action; zero for advice.
	Object ObjectReference `json:"object,omitzero"`
	// Command is a command for a shell; empty for advice and Wait.
	Command string `json:"command,omitempty"`
}

func advice(text string) Remedy { return Remedy{Text: text} }

// The advice about components.
var (
	componentRemedy = advice("see that the component that sets the finalizer runs, and read its logs")
	collectorRemedy = advice(
		"see that the garbage collector (kube-controller-manager) runs and may write, and read its logs")
)

func deletion(o ObjectReference, text string) Remedy {
	return Remedy{text, DeleteObject, o, "kubectl delete " + arguments(o)}
}

// remove deletes an object that does not go with another one.
func remove(o ObjectReference) Remedy { return deletion(o, "delete it") }

// removeNow removes a Pod whose kubelet has not confirmed its end.
func removeNow(o ObjectReference) Remedy {
	return Remedy{"remove the Pod without waiting for the kubelet; its containers may still run", DeleteNow, o,
		"kubectl delete " + arguments(o) + " --force --grace-period=0"}
}

func touch(o ObjectReference) Remedy {
	return Remedy{"write it once", Touch, o,
		"kubectl annotate " + arguments(o) + " kubecascade/touched=true --overwrite"}
}

// The lists of RemoveItem, as JSON pointers.
const (
	finalizersList = "/metadata/finalizers"
	ownersList     = "/metadata/ownerReferences"
)

// notDone is the effect of the removal of a finalizer in general.
const notDone = "what it stands for is then not done"

// drop removes a finalizer of metadata.finalizers by hand.
func (e *explainer) drop(o *Object, finalizer, effect string) Remedy {
	item := fmt.Sprintf("%s/%d", finalizersList, slices.Index(o.Finalizers, finalizer))
	return Remedy{"last, remove the finalizer by hand; " + effect, RemoveItem, e.ref(o),
		patch(e.ref(o), item, "", finalizer)}
}

// dropSpec removes a finalizer of a namespace's spec.finalizers by hand, through the subresource finalize.
func (e *explainer) dropSpec(o *Object, finalizer, effect string) Remedy {
	command := fmt.Sprintf("kubectl get namespace %[1]s -o json | jq %[2]s |"+
		" kubectl replace --raw /api/v1/namespaces/%[1]s/finalize -f -", shell(o.Name),
		shell(".spec.finalizers -= ["+jsonString(finalizer)+"]"))
	return Remedy{"last, remove the finalizer by hand; " + effect, RemoveItem, e.ref(o), command}
}

// releaseOwner removes the first reference with the uid by hand.
func (e *explainer) releaseOwner(o *Object, uid string) Remedy {
	i := slices.IndexFunc(o.Owners, func(r graph.Owner) bool { return r.UID == uid })
	return Remedy{"remove the reference by hand", RemoveItem, e.ref(o),
		patch(e.ref(o), fmt.Sprintf("%s/%d", ownersList, i), "/uid", uid)}
}

// patch is the command that removes an item. It tests a value in the item first, so that it removes no other one if the
// list has changed.
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
