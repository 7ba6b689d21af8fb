package explain

import (
	"fmt"
	"strings"

	"github.com/kubecascade/kubecascade/gc/trail"
)

// TrailText returns the text of an answer about removals: for each object one line with the request at the end of the
// chain, and then the requests and the owners as a tree. It adds nothing to the server's answer.
func TrailText(a *trail.Answer, s Style) string {
	p := &printer{Style: s, shown: map[string]*trail.Removal{}}
	for i, r := range a.Items {
		if i > 0 {
			p.line("", "", "")
		}
		p.line("", "", p.paint(bold, nameOf(r.Object))+" "+p.fate(r)+p.origin(r))
		p.items("", p.removal(r))
	}
	return p.String()
}

func nameOf(o trail.Object) string {
	return ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}.String()
}

// fate reports whether and when the object was removed.
func (p *printer) fate(r *trail.Removal) string {
	if r.Removed == nil {
		return p.paint(red, "is being deleted")
	}
	return fmt.Sprintf("was removed at revision %d, %s ago", r.Removed.Revision, age(p.Now.Sub(r.Removed.Time)))
}

// origin returns the request that began the chain: of a client, or of a controller for a reason of its own.
func (p *printer) origin(r *trail.Removal) string {
	top, what, seen := r, "it", map[*trail.Removal]bool{r: true}
	for next := p.decisive(top); next != nil && !seen[next]; next = p.decisive(top) {
		top, what, seen[next] = next, nameOf(next.Object), true
	}
	switch {
	case top.Asked != nil:
		return ": " + sender(top.Asked) + " " + deleted(top.Asked, what) + reason(top.Asked)
	case top.Elsewhere:
		return ": another server over the same etcd removed " + what
	}
	return ": who deleted " + what + " is not known"
}

// decisive returns the removal of the owner for which the object was deleted; nil if there is none, or none is shown.
func (p *printer) decisive(r *trail.Removal) *trail.Removal {
	if r.Asked != nil && r.Asked.Reason != trail.ControllerDecision {
		for _, o := range r.Asked.Owners {
			if o.Repeated {
				o.Trail = p.shown[o.Object.UID]
			}
			if o.Trail != nil {
				return o.Trail
			}
		}
	}
	return nil
}

func sender(r *trail.Request) string {
	switch r.Controller {
	case "":
		return "user " + r.User
	case "generic-garbage-collector":
		return "the garbage collector"
	case "kube-apiserver":
		return "a controller of kube-apiserver"
	case "kubelet":
		return "the simulated kubelet"
	}
	return "the " + strings.ReplaceAll(strings.TrimSuffix(r.Controller, "-controller"), "-", " ") + " controller"
}

// deleted describes the effect of a request on an object that it deleted.
func deleted(r *trail.Request, object string) string {
	text := fmt.Sprintf("removed %s by %s", object, r.Verb)
	switch {
	case r.Verb == "delete":
		text = "deleted " + object
	case r.Verb == "deletecollection":
		text = "deleted " + object + " with its collection"
	case r.Verb == "create" && strings.HasSuffix(r.URI, "/eviction"):
		text = "evicted " + object
	}
	if r.Policy != "" {
		text += ", propagationPolicy " + r.Policy
	}
	return text
}

// reason returns the reason why a controller sent a request; empty for a request of a client.
func reason(r *trail.Request) string {
	owner := "its owners are"
	switch len(r.Owners) {
	case 0:
		owner = "its owner is"
	case 1:
		owner = "its owner " + nameOf(r.Owners[0].Object) + " is"
	}
	if why := reasons[r.Reason]; why != "" {
		return ", as " + strings.Replace(why, "its owner is", owner, 1)
	} else if why := decisions[r.Controller]; why != "" {
		return ": " + why
	}
	return ""
}

var reasons = map[trail.Reason]string{
	trail.OwnerAbsent:                     "its owner is absent",
	trail.OwnerDeleted:                    "its owner is gone",
	trail.OwnerWaits:                      "its owner is being deleted in the foreground",
	trail.DependentsGone:                  "no dependent blocks it any more",
	trail.DependentsOrphaned:              "its dependents are orphaned",
	trail.NamespaceDeleted:                "its namespace is being deleted",
	trail.NamespaceEmpty:                  "it has no content any more",
	trail.CustomResourceDefinitionDeleted: "its CustomResourceDefinition is being deleted",
}

// decisions has the reasons of controllers that have only one.
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

// removal returns the items of a removal: who deleted the object, what held it, and who removed it.
func (p *printer) removal(r *trail.Removal) (items []item) {
	p.shown[r.Object.UID] = r
	add := func(text string) { items = append(items, item{Text: text}) }
	switch {
	case r.Asked != nil:
		items = append(items, p.request(r.Asked, deleted(r.Asked, "it")))
	case r.Elsewhere:
		add("the request was made at another server over the same etcd")
	default:
		add("the deletion began before this server started, or at another server over the " +
			"same etcd, or too long ago: who requested it is not known")
	}
	if r.Terminating != nil {
		add(p.terminating(r))
	}
	switch {
	case r.Finished != nil:
		items = append(items, p.request(r.Finished, finished(r)))
	case r.Elsewhere && r.Asked != nil:
		add("another server over the same etcd removed it")
	}
	return items
}

// terminating returns a text: how long the object was terminating, and the finalizers that held it.
func (p *printer) terminating(r *trail.Removal) string {
	held := "its grace period"
	switch {
	case len(r.Finalizers) > 0:
		held = "finalizers " + strings.Join(r.Finalizers, ", ")
	case r.Object.APIVersion == "v1" && r.Object.Kind == "Namespace":
		held = "its content"
	}
	on, until := " on", p.Now
	if r.Removed != nil {
		on, until = "", r.Removed.Time
	}
	return fmt.Sprintf("it was terminating from revision %d%s, for %s, held by %s", r.Terminating.Revision, on,
		age(until.Sub(r.Terminating.Time)), held)
}

func finished(r *trail.Removal) string {
	switch last := r.LastFinalizers; {
	case len(last) == 1 && r.Finished.Verb != "delete":
		return "removed the last finalizer " + last[0]
	case len(last) > 1 && r.Finished.Verb != "delete":
		return "removed the last finalizers " + strings.Join(last, ", ")
	case r.Finished.Reason == trail.NamespaceEmpty:
		return "finalized it"
	}
	return deleted(r.Finished, "it")
}

// request returns the item of a request, with the owners that its reason is about. If the reason is a controller's own
// decision, only owners that are gone are shown.
func (p *printer) request(r *trail.Request, did string) item {
	one := item{Text: sender(r) + " " + did}
	if r.Controller != "" {
		one.Text += reason(r)
		for _, o := range r.Owners {
			if r.Reason != trail.ControllerDecision || o.Trail != nil {
				one.Below = append(one.Below, p.owner(o))
			}
		}
		return one
	}
	details := r.URI
	for _, d := range [][2]string{
		{"user agent ", r.UserAgent}, {"audit ID ", r.AuditID}, {"injected fault: ", r.Fault},
	} {
		if d[1] != "" {
			details += "; " + d[0] + d[1]
		}
	}
	one.Text += p.paint(faint, " ("+details+")")
	return one
}

// owner returns the item of an owner, with its own removal below it.
func (p *printer) owner(o trail.Owner) item {
	switch name := p.paint(bold, nameOf(o.Object)); {
	case o.Trail != nil:
		name = p.paint(bold, nameOf(o.Trail.Object))
		return item{Text: name + " " + p.fate(o.Trail), Below: p.removal(o.Trail)}
	case o.Hidden != "":
		return item{Text: name + ": not shown: " + o.Hidden}
	case o.Repeated:
		return item{Text: name + p.paint(faint, " (shown above)")}
	default:
		return item{Text: name + ": nothing is known of a removal"}
	}
}
