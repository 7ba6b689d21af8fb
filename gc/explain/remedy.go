package explain

import (
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Action is what a remedy does, if it is one request.
type Action string

// The actions. A remedy without one is advice.
const (
	// Wait: nothing needs to be done.
	Wait Action = "Wait"
	// Touch writes the object without changing anything that matters.
	Touch Action = "Touch"
	// DeleteObject deletes the object; DeleteNow does with a grace period of 0.
	DeleteObject Action = "Delete"
	DeleteNow    Action = "DeleteNow"
	// RemoveItem removes an item of a list of the object: a finalizer or an owner reference.
	RemoveItem Action = "RemoveItem"
)

// Remedy is something to do about a reason.
type Remedy struct {
	// Text says what to do, and what to know before.
	Text   string
	Action Action
	// Object is what the action is for.
	Object graph.Ref
	// List, Index and Value are the list, as a JSON pointer, the item's place in it, and the item, if it is a string.
	List  string
	Index int
	Value string
	// UID is the uid of the owner reference that is removed.
	UID string
	// command is the command of a remedy that was decoded; it has no more than that.
	command string
}

func remove(o graph.Ref) Remedy {
	return Remedy{Text: "delete it", Action: DeleteObject, Object: o}
}

func touch(o graph.Ref) Remedy {
	return Remedy{Text: "write it once", Action: Touch, Object: o}
}

// drop removes a finalizer by hand.
func drop(o graph.Ref, list string, index int, value string) Remedy {
	return Remedy{
		Text:   "last, remove the finalizer by hand; what it stands for is then not done",
		Action: RemoveItem, Object: o, List: list, Index: index, Value: value,
	}
}

// releaseOwner removes the first reference with the uid by hand.
func releaseOwner(o *Object, ref graph.Ref, uid string) Remedy {
	r := Remedy{Text: "remove the reference by hand", Action: RemoveItem, Object: ref, List: "/metadata/ownerReferences",
		UID: uid}
	for i := range o.Owners {
		if o.Owners[i].UID == uid {
			r.Index = i
			break
		}
	}
	return r
}

// Command is the remedy as a command for kubectl; empty if it is advice.
func (r Remedy) Command() string {
	if r.command != "" {
		return r.command
	}
	what := shell(r.Object.Collection) + " " + shell(r.Object.Name)
	if strings.HasPrefix(r.Object.Name, "-") { // by itself it would be a flag, --all for example
		what = shell(r.Object.Collection + "/" + r.Object.Name)
	}
	if r.Object.Namespace != "" {
		what += " --namespace " + shell(r.Object.Namespace)
	}
	switch r.Action {
	case DeleteObject:
		return "kubectl delete " + what
	case DeleteNow:
		return "kubectl delete " + what + " --force --grace-period=0"
	case Touch:
		return "kubectl annotate " + what + " kubecascade/touched=true --overwrite"
	case RemoveItem:
		return r.patch(what)
	}
	return ""
}

// patch is the command for RemoveItem. It tests the item first, so that it removes no other one if the list has
// changed. Finalizers of a namespace's spec are removed through the subresource finalize.
func (r Remedy) patch(what string) string {
	if strings.HasPrefix(r.List, "/spec/") {
		return fmt.Sprintf("kubectl get namespace %[1]s -o json | jq %[2]s |"+
			" kubectl replace --raw /api/v1/namespaces/%[1]s/finalize -f -", shell(r.Object.Name),
			shell(".spec.finalizers -= ["+jsonString(r.Value)+"]"))
	}
	item := fmt.Sprintf("%s/%d", r.List, r.Index)
	test, value := item, r.Value
	if r.UID != "" {
		test, value = item+"/uid", r.UID
	}
	return "kubectl patch " + what + " --type=json -p " +
		shell(fmt.Sprintf(`[{"op":"test","path":%s,"value":%s},{"op":"remove","path":%s}]`,
			jsonString(test), jsonString(value), jsonString(item)))
}
