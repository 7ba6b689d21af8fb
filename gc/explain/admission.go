package explain

import (
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Hook is a webhook or a policy of admission that may deny requests.
type Hook struct {
	// Kind and Name are those of the configuration or the policy; Webhook is the webhook's name in its configuration.
	Kind, Name, Webhook string
	// Match is what it is asked about. Bindings are those of a policy that deny; one of them must match, too.
	Match    Match
	Bindings []Match
	// Conditional: there are matchConditions, which only the server evaluates.
	Conditional bool
	// Unreachable is why the server can't call a webhook; empty if it can, or if that isn't known. Fails: its
	// failurePolicy denies the request then.
	Unreachable string
	Fails       bool
}

// Match selects the requests that a hook is for.
type Match struct {
	// Rules: one of them must match, and none of Excluded. Without Rules a policy or a binding is for all.
	Rules, Excluded []MatchRule
	// Namespaces and Objects select by the labels of the namespace and of the object.
	Namespaces, Objects []Requirement
}

// MatchRule matches requests. In all lists but Names "*" matches everything.
type MatchRule struct {
	Operations, Groups, Versions, Resources []string
	// Scope is Cluster, Namespaced, or anything else for both.
	Scope string
	// Names are those of the objects; empty for all.
	Names []string
}

// Requirement is one of a label selector's. Operator is In, NotIn, Exists or DoesNotExist.
type Requirement struct {
	Key, Operator string
	Values        []string
}

// The operations of admission.
const (
	updateOperation = "UPDATE"
	deleteOperation = "DELETE"
)

// request is what admission decides on: a write of an object or of a subresource.
type request struct {
	key            graph.Key
	operation, sub string
}

// Asked is a webhook or a policy with the requests that it is asked about.
type Asked struct {
	Configuration ObjectReference `json:"configuration"`
	// Webhook is the webhook's name in its configuration; empty for policies.
	Webhook string `json:"webhook,omitempty"`
	// Operation is DELETE or UPDATE.
	Operation string `json:"operation"`
	// Resources are the numbers of objects, by the resource's Name.
	Resources map[string]int `json:"resources"`
	// Conditional, Unreachable: as in Hook. Denies: it certainly denies the requests that its conditions select.
	Conditional bool   `json:"conditional,omitempty"`
	Unreachable string `json:"unreachable,omitempty"`
	Denies      bool   `json:"denies,omitempty"`
	Message     string `json:"message"`
}

// asked returns the hooks that are asked about the requests, those first that certainly deny.
func (x *index) asked(requests map[request]bool) (all []Asked) {
	for _, denies := range []bool{true, false} {
		for i := range x.c.Hooks {
			h := &x.c.Hooks[i]
			if (h.Unreachable != "" && h.Fails) != denies {
				continue
			}
			for _, operation := range []string{deleteOperation, updateOperation} {
				found := map[string]int{}
				for r := range requests {
					if r.operation == operation && x.concerns(h, r) {
						found[r.key.Collection]++
					}
				}
				if len(found) > 0 {
					all = append(all, h.asked(operation, found))
				}
			}
		}
	}
	return all
}

func (h *Hook) asked(operation string, resources map[string]int) Asked {
	a := Asked{
		Configuration: ObjectReference{APIVersion: unseen + "/v1", Kind: h.Kind, Name: h.Name}, Webhook: h.Webhook,
		Operation: operation, Resources: resources, Conditional: h.Conditional, Unreachable: h.Unreachable,
		Denies: h.Unreachable != "" && h.Fails,
	}
	a.Message = a.message()
	return a
}

// unseen is the group whose objects no hook gets, so that none can lock itself in (L-23, M-21).
const unseen = "admissionregistration.k8s.io"

// concerns reports whether a hook is asked about a request. Conditions that aren't known count as a match.
func (x *index) concerns(h *Hook, r request) bool {
	res := x.resources[r.key.Collection]
	if res == nil || res.Group == unseen || !x.matches(&h.Match, res, r) {
		return false
	}
	return h.Webhook != "" || slices.ContainsFunc(h.Bindings, func(m Match) bool { return x.matches(&m, res, r) })
}

func (x *index) matches(m *Match, res *Resource, r request) bool {
	has := func(rule MatchRule) bool { return rule.matches(res, r) }
	if len(m.Rules) > 0 && !slices.ContainsFunc(m.Rules, has) || slices.ContainsFunc(m.Excluded, has) {
		return false
	}
	if o := x.keys[r.key]; o != nil && !selects(m.Objects, o.Labels) {
		return false
	}
	namespace := r.key.Namespace
	if res.Delete.Namespace { // L-37
		namespace = r.key.Name
	}
	n := x.keys[graph.Key{Collection: "namespaces", Name: namespace}]
	return n == nil || selects(m.Namespaces, n.Labels)
}

// matches reports whether the rule is for the request, in any version in which the object is served (L-31 to L-35): in
// which one the request will be isn't known.
func (rule *MatchRule) matches(res *Resource, r request) bool {
	has := func(list []string, item string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, item)
	}
	cluster := !res.Namespaced || res.Delete.Namespace
	if rule.Scope == "Cluster" && !cluster || rule.Scope == "Namespaced" && cluster ||
		!has(rule.Operations, r.operation) || len(rule.Names) > 0 && !slices.Contains(rule.Names, r.key.Name) {
		return false
	}
	if !slices.ContainsFunc(rule.Resources, func(pattern string) bool {
		resource, sub, _ := strings.Cut(pattern, "/")
		return (resource == "*" || resource == res.Plural) && (sub == "*" || sub == r.sub)
	}) {
		return false
	}
	return has(rule.Groups, res.Group) && slices.ContainsFunc(res.Versions, func(v string) bool {
		return has(rule.Versions, v)
	}) || slices.ContainsFunc(res.Aliases, func(alias string) bool {
		group, version, _ := strings.Cut(alias, "/")
		return has(rule.Groups, group) && has(rule.Versions, version)
	})
}

// selects reports whether a selector matches the labels (AM pkg/labels/selector.go: Requirement.Matches).
func selects(all []Requirement, labels map[string]string) bool {
	for _, r := range all {
		value, ok := labels[r.Key]
		switch r.Operator {
		case "In":
			ok = ok && slices.Contains(r.Values, value)
		case "NotIn":
			ok = !ok || !slices.Contains(r.Values, value)
		case "DoesNotExist":
			ok = !ok
		}
		if !ok {
			return false
		}
	}
	return true
}

// message describes the requests, and the effect that the hook may have.
func (a *Asked) message() string {
	text := a.Configuration.Kind + " " + a.Configuration.Name
	if a.Webhook != "" {
		text += " (webhook " + a.Webhook + ")"
	}
	asked := " is asked about "
	if a.Conditional {
		asked = " may be asked, by its matchConditions, about "
	}
	text += asked + map[string]string{deleteOperation: "deletions", updateOperation: "updates"}[a.Operation] + " of " +
		counted(a.Resources, "%s (%d)")
	switch {
	case a.Denies:
		return text + "; it can't be reached (" + a.Unreachable + "), and by its failurePolicy Fail they are denied"
	case a.Unreachable != "":
		return text + "; it can't be reached (" + a.Unreachable + "), and by its failurePolicy Ignore it is passed over"
	case a.Operation == updateOperation:
		return text + "; if it denies them, finalizers and owner references stay"
	}
	return text + "; if it denies them, the objects stay"
}
