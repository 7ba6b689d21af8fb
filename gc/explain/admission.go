package explain

import (
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Hook is a webhook or a policy of admission that may deny requests.
type Hook struct {
	// Kind and Name are those of the configuration or the policy; Webhook is the webhook's name in its configuration.
	Kind, Name, Webhook string
	// Matches reports whether the hook gets a request. Unknown conditions count as a match.
	Matches     func(*Request) bool
	Conditional bool // there are matchConditions, which only the server evaluates
	// Unreachable is the reason why the server can't call a webhook; empty if it can, or if that isn't known. Fails
	// reports whether the webhook's failurePolicy then denies the request.
	Unreachable string
	Fails       bool
}

// Request is an update or a deletion of an object or of a subresource, as admission gets it.
type Request struct {
	Resource               *Resource
	Key                    graph.Key
	Operation, Subresource string
	// Namespace is the object's namespace, or the object itself if it is a namespace. Either is nil if it is not known.
	Object, Namespace *Object
}

// The operations of admission.
const (
	updateOperation = "UPDATE"
	deleteOperation = "DELETE"
)

// Asked is a webhook or a policy with the requests that it gets.
type Asked struct {
	Configuration ObjectReference `json:"configuration"`
	// Webhook is the webhook's name in its configuration; empty for policies.
	Webhook   string         `json:"webhook,omitempty"`
	Operation string         `json:"operation"` // DELETE or UPDATE
	Resources map[string]int `json:"resources"` // the numbers of objects, by the resource's Name
	// Conditional and Unreachable are as in Hook. Denies reports whether it certainly denies the requests.
	Conditional bool   `json:"conditional,omitempty"`
	Unreachable string `json:"unreachable,omitempty"`
	Denies      bool   `json:"denies,omitempty"`
	Message     string `json:"message"`
}

// hooks returns the hooks that get the requests. Those that certainly deny come first.
func (x *Index) hooks(requests map[Request]bool) (first []Asked) {
	var others []Asked
	for _, h := range x.c.Hooks {
		for _, operation := range []string{deleteOperation, updateOperation} {
			found := map[string]int{}
			for r := range requests {
				if r.Operation == operation && h.Matches(&r) {
					found[r.Key.Collection]++
				}
			}
			switch a := h.asked(operation, found); {
			case len(found) == 0:
			case a.Denies:
				first = append(first, a)
			default:
				others = append(others, a)
			}
		}
	}
	return append(first, others...)
}

// unseen is the group whose objects no hook gets, as a hook could prevent its own removal (L-23, M-21).
const unseen = "admissionregistration.k8s.io"

// ask records a request that hooks may get.
func (w *world) ask(k graph.Key, operation, sub string) {
	r := w.Index.resources[k.Collection]
	if r == nil || r.Group == unseen {
		return
	}
	namespace := k.Namespace
	if r.Delete.Namespace { // L-37
		namespace = k.Name
	}
	w.asked[Request{
		Resource: r, Key: k, Operation: operation, Subresource: sub, Object: w.keys[k],
		Namespace: w.keys[graph.Key{Collection: namespaces, Name: namespace}],
	}] = true
}

// asked describes the requests, and the effect that the hook may have.
func (h *Hook) asked(operation string, resources map[string]int) Asked {
	text := h.Kind + " " + h.Name
	if h.Webhook != "" {
		text += " (webhook " + h.Webhook + ")"
	}
	asked := " is asked about "
	if h.Conditional {
		asked = " may be asked, by its matchConditions, about "
	}
	what, effect := "deletions", "; if it denies them, the objects stay"
	if operation == updateOperation {
		what, effect = "updates", "; if it denies them, finalizers and owner references stay"
	}
	if h.Unreachable != "" {
		effect = "; it can't be reached (" + h.Unreachable + "), and because of its failurePolicy "
		if h.Fails {
			effect += "Fail the " + what + " are denied"
		} else {
			effect += "Ignore it is skipped"
		}
	}
	return Asked{
		Configuration: ObjectReference{APIVersion: unseen + "/v1", Kind: h.Kind, Name: h.Name}, Webhook: h.Webhook,
		Operation: operation, Resources: resources, Conditional: h.Conditional, Unreachable: h.Unreachable,
		Denies:  h.Unreachable != "" && h.Fails,
		Message: text + asked + what + " (" + counted(resources, "%s: %d") + ")" + effect,
	}
}
