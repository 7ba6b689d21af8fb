package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/gc/trail"
)

// TrailText prints why objects went: for each, the answer in one line, and then the requests and the owners as a tree.
func TrailText(a *trail.Answer, s Style) string {
	b := &branch{Style: s}
	for i, r := range a.Items {
		if i > 0 {
			b.line("", "", "")
		}
		b.line("", "", b.paint(bold, trailName(r.Object))+" "+b.fate(r)+b.origin(r))
		b.removal("", r)
	}
	return b.b.String()
}

// trailName is the name of an object in an answer.
func trailName(o trail.Object) string {
	r := graph.Ref{APIVersion: o.APIVersion, Kind: o.Kind, UID: o.UID}
	r.Namespace, r.Name = o.Namespace, o.Name
	return Name(r)
}

// when is a moment as a revision, with its age.
func (t *branch) when(m *trail.Moment) string {
	return fmt.Sprintf("at revision %d, %s ago", m.Revision, age(t.Now.Sub(m.Time)))
}

// fate says what became of the object.
func (t *branch) fate(r *trail.Removal) string {
	if r.Removed == nil {
		return t.paint(red, "is being deleted")
	}
	return "was removed " + t.when(r.Removed)
}

// longestChain is how many removals are followed to the request that caused them.
const longestChain = 100

// origin is the request at the end of the chain: of a client, or of a controller for a reason of its own.
func (t *branch) origin(r *trail.Removal) string {
	top := r
	for seen := 0; seen < longestChain; seen++ {
		next := decisive(top)
		if next == nil {
			break
		}
		top = next
	}
	switch {
	case top.Asked == nil && top.Elsewhere:
		return ": another server over the same etcd removed " + t.itself(r, top)
	case top.Asked == nil:
		return ": who deleted " + t.itself(r, top) + " is not known"
	}
	says := ": " + who(top.Asked) + " " + did(top.Asked, t.itself(r, top))
	if top.Asked.Controller != "" {
		says += because(top.Asked)
	}
	return says
}

// itself is how the object at the end of a chain is called.
func (t *branch) itself(r, top *trail.Removal) string {
	if r == top {
		return "it"
	}
	return trailName(top.Object)
}

// decisive is the removal of the owner for which the object was deleted; nil if there is none, or none is shown.
func decisive(r *trail.Removal) *trail.Removal {
	if r.Asked == nil {
		return nil
	}
	for i := range r.Asked.Owners {
		if o := &r.Asked.Owners[i]; o.Trail != nil && r.Asked.Reason != trail.ControllerDecision {
			return o.Trail
		}
	}
	return nil
}

// collector is the garbage collector's controller.
const collector = "generic-garbage-collector"

// who names the sender of a request.
func who(r *trail.Request) string {
	switch r.Controller {
	case "":
		return "user " + r.User
	case collector:
		return "the garbage collector"
	case "kube-apiserver":
		return "a controller of kube-apiserver"
	case "kubelet":
		return "the simulated kubelet"
	}
	return "the " + strings.ReplaceAll(strings.TrimSuffix(r.Controller, "-controller"), "-", " ") + " controller"
}

// did says what a deleting request did to what.
func did(r *trail.Request, what string) string {
	verb := "deleted " + what
	switch {
	case r.Verb == "deletecollection":
		verb += " with its collection"
	case r.Verb == "create" && strings.HasSuffix(r.URI, "/eviction"):
		verb = "evicted " + what
	case r.Verb != "delete":
		verb = fmt.Sprintf("removed %s by %s", what, r.Verb)
	}
	if r.Policy != "" {
		verb += ", propagationPolicy " + r.Policy
	}
	return verb
}

// because says why a controller sent a request.
func because(r *trail.Request) string {
	owner := "its owner"
	if len(r.Owners) > 1 {
		owner = "its owners"
	} else if len(r.Owners) == 1 {
		owner += " " + trailName(r.Owners[0].Object)
	}
	is := "is"
	if len(r.Owners) > 1 {
		is = "are"
	}
	switch r.Reason {
	case trail.OwnerAbsent:
		return ", as " + owner + " " + is + " absent"
	case trail.OwnerDeleted:
		return ", as " + owner + " " + is + " gone"
	case trail.OwnerWaits:
		return ", as " + owner + " " + is + " being deleted in the foreground"
	case trail.DependentsGone:
		return ", as no dependent blocks it any more"
	case trail.DependentsOrphaned:
		return ", as its dependents are orphaned"
	case trail.NamespaceDeleted:
		return ", as its namespace is being deleted"
	case trail.NamespaceEmpty:
		return ", as it has no content any more"
	case trail.CustomResourceDefinitionDeleted:
		return ", as its CustomResourceDefinition is being deleted"
	}
	if why := decisions[r.Controller]; why != "" {
		return ": " + why
	}
	return ""
}

// decisions are the reasons of controllers that have only one.
var decisions = map[string]string{
	"ttl-after-finished-controller":    "its ttlSecondsAfterFinished is over",
	"deployment-controller":            "revisionHistoryLimit",
	"cronjob-controller":               "a history limit, or concurrencyPolicy Replace",
	"node-controller":                  "a taint of its node",
	"device-taint-eviction-controller": "a taint of its devices",
	"pod-garbage-collector":            "it has ended, or its node is gone, or out of service",
	"replicaset-controller":            "more pods than replicas",
	"replication-controller":           "more pods than replicas",
}

// item is a line of the tree, with what is below it.
type item struct {
	text  string
	below []trail.Owner
}

// removal prints what is known of a removal.
func (t *branch) removal(prefix string, r *trail.Removal) {
	items := t.items(r)
	for i, one := range items {
		first, rest := arms(prefix, i, len(items))
		t.line(first, rest, one.text)
		for j, o := range one.below {
			first, rest := arms(rest, j, len(one.below))
			t.owner(first, rest, o)
		}
	}
}

// items are the lines of a removal: who deleted it, what held it, and who removed it.
func (t *branch) items(r *trail.Removal) (items []item) {
	switch {
	case r.Asked != nil:
		items = append(items, t.request(r.Asked, did(r.Asked, "it")))
	case r.Elsewhere:
		items = append(items, item{text: "the request was made at another server over the same etcd"})
	default:
		items = append(items, item{text: "the deletion began before this server started, or at another server over the " +
			"same etcd, or too long ago: who requested it is not known"})
	}
	if r.Terminating != nil {
		held := "its grace period"
		switch {
		case len(r.Finalizers) > 0:
			held = "finalizers " + strings.Join(r.Finalizers, ", ")
		case r.Object.APIVersion == "v1" && r.Object.Kind == "Namespace":
			held = "its content"
		}
		items = append(items, item{text: "it was terminating from revision " +
			fmt.Sprint(r.Terminating.Revision) + t.until(r) + ", held by " + held})
	}
	switch f := r.Finished; {
	case f != nil && len(r.LastFinalizers) > 0 && f.Verb != "delete":
		what := "removed the last finalizer " + r.LastFinalizers[0]
		if len(r.LastFinalizers) > 1 {
			what = "removed the last finalizers " + strings.Join(r.LastFinalizers, ", ")
		}
		items = append(items, t.request(f, what))
	case f != nil && f.Reason == trail.NamespaceEmpty:
		items = append(items, t.request(f, "finalized it"))
	case f != nil:
		items = append(items, t.request(f, did(f, "it")))
	case r.Elsewhere && r.Asked != nil:
		items = append(items, item{text: "another server over the same etcd removed it"})
	}
	return items
}

// until is how long the object was terminating.
func (t *branch) until(r *trail.Removal) string {
	if r.Removed == nil {
		return " on, for " + age(t.Now.Sub(r.Terminating.Time))
	}
	return ", for " + age(r.Removed.Time.Sub(r.Terminating.Time))
}

// request is the line of a request.
func (t *branch) request(r *trail.Request, what string) item {
	text := who(r) + " " + what
	if r.Controller != "" {
		return item{text: text + because(r), below: shown(r)}
	}
	details := []string{r.URI}
	if r.UserAgent != "" {
		details = append(details, "user agent "+r.UserAgent)
	}
	if r.AuditID != "" {
		details = append(details, "audit ID "+r.AuditID)
	}
	return item{text: text + t.paint(faint, " ("+strings.Join(details, "; ")+")")}
}

// shown are the owners that are listed below a request. The controller of an object is listed only if it is gone.
func shown(r *trail.Request) []trail.Owner {
	if r.Reason != trail.ControllerDecision {
		return r.Owners
	}
	return slices.DeleteFunc(slices.Clone(r.Owners), func(o trail.Owner) bool { return o.Trail == nil })
}

// owner prints an owner, and what is known of its own removal.
func (t *branch) owner(first, rest string, o trail.Owner) {
	name := trailName(o.Object)
	if o.Trail != nil {
		name = trailName(o.Trail.Object)
	}
	switch text := t.paint(bold, name); {
	case o.Trail != nil:
		t.line(first, rest, text+" "+t.fate(o.Trail))
		t.removal(rest, o.Trail)
	case o.Hidden != "":
		t.line(first, rest, text+": not shown: "+o.Hidden)
	case o.Repeated:
		t.line(first, rest, text+t.paint(faint, " (shown above)"))
	default:
		t.line(first, rest, text+": nothing is known of a removal")
	}
}
