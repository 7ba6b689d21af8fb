package main

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/internal/selection"
)

func trailCommand() *cobra.Command {
	var q question
	var uid string
	c := &cobra.Command{
		Use:   "trail KIND/NAME",
		Short: "Say why an object is gone, on a kubecascade server",
		Long: `Say why an object is gone: which user or controller deleted it, at which revision and with which
propagation policy, through which owners, which finalizers held it, and who removed the last one. The
server keeps the last ` + strconv.Itoa(trail.Removals) + ` removals since it started, in memory. Only objects that you
may list are shown. Servers other than kubecascade keep no trail; use their audit log.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			line := selection.Line{Args: args, One: true}
			if len(args) > 0 || uid == "" {
				if err := line.Parse(nil); err != nil {
					return errUsage{err}
				}
			}
			if err := q.connect(c.Context()); err != nil {
				return err
			}
			if err := q.printTrail(c, q.trailQuery(line.Objects, uid)); err != nil {
				return errUnable{err}
			}
			return nil
		},
	}
	q.flags(c, "text", "json")
	c.Flags().StringVar(&uid, "uid", "", "uid of the object; KIND/NAME may then be omitted")
	return c
}

// printTrail prints the server's answer to a query.
func (q *question) printTrail(c *cobra.Command, query url.Values) error {
	a, err := q.client.Trail(c.Context(), query)
	if err != nil {
		return err
	}
	return q.print(c, a, func(s explain.Style) string { return trailText(a, s) })
}

// trailQuery returns the parameters of the request for the trail of at most one object, or of a uid.
func (q *question) trailQuery(objects []selection.Object, uid string) url.Values {
	query := url.Values{}
	if uid != "" {
		query.Set("uid", uid)
	}
	for _, o := range objects {
		query.Set("name", o.Name)
		r, err := q.discovery.Resolve(o.Resource)
		if err != nil { // the kind may be gone, too
			kind, group, qualified := strings.Cut(o.Resource, ".")
			if query.Set("kind", kind); qualified {
				query.Set("group", group)
			}
			continue
		}
		query.Set("resource", r.Plural)
		if query.Set("group", r.Group); r.Namespaced {
			query.Set("namespace", q.namespace)
		}
	}
	return query
}

// trailText is the text of an answer about removals: for each object one line with the request at the end of the chain,
// and then the requests and the owners as a tree. It adds nothing to what the server has answered.
func trailText(a *trail.Answer, s explain.Style) string {
	p := &trailPrinter{explain.Printer{Style: s}}
	for i, r := range a.Items {
		if i > 0 {
			p.Line("", "", "")
		}
		p.Line("", "", p.Paint(explain.Bold, nameOf(r.Object))+" "+p.fate(r)+origin(r))
		p.Items("", p.removal(r))
	}
	return p.String()
}

type trailPrinter struct{ explain.Printer }

func nameOf(o trail.Object) string {
	r := explain.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	return r.String()
}

// fate reports whether and when the object was removed.
func (p *trailPrinter) fate(r *trail.Removal) string {
	if r.Removed == nil {
		return p.Paint(explain.Red, "is being deleted")
	}
	return fmt.Sprintf("was removed at revision %d, %s ago", r.Removed.Revision, explain.Age(p.Now.Sub(r.Removed.Time)))
}

// origin is the request at the end of the chain: of a client, or of a controller for a reason of its own.
func origin(r *trail.Removal) string {
	top, what := r, "it"
	for next := decisive(top); next != nil; next = decisive(top) {
		top, what = next, nameOf(next.Object)
	}
	switch {
	case top.Asked != nil:
		return ": " + sender(top.Asked) + " " + deleted(top.Asked, what) + reason(top.Asked)
	case top.Elsewhere:
		return ": another server over the same etcd removed " + what
	}
	return ": who deleted " + what + " is not known"
}

// decisive is the removal of the owner for which the object was deleted; nil if there is none, or none is shown.
func decisive(r *trail.Removal) *trail.Removal {
	if r.Asked != nil && r.Asked.Reason != trail.ControllerDecision {
		for _, o := range r.Asked.Owners {
			if o.Trail != nil {
				return o.Trail
			}
		}
	}
	return nil
}

// sender names the sender of a request.
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

// deleted is what a request did to an object that it deleted.
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

// reason is why a controller sent a request; empty for a request of a client.
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

// removal has the items of a removal: who deleted the object, what held it, and who removed it.
func (p *trailPrinter) removal(r *trail.Removal) (items []explain.Item) {
	add := func(text string) { items = append(items, explain.Item{Text: text}) }
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

// terminating is how long the object was terminating, and what held it.
func (p *trailPrinter) terminating(r *trail.Removal) string {
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
		explain.Age(until.Sub(r.Terminating.Time)), held)
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

// request is the item of a request, with the owners that its reason is about. For the own decision of a controller,
// only those that are gone are of interest.
func (p *trailPrinter) request(r *trail.Request, did string) explain.Item {
	item := explain.Item{Text: sender(r) + " " + did}
	if r.Controller != "" {
		item.Text += reason(r)
		for _, o := range r.Owners {
			if r.Reason != trail.ControllerDecision || o.Trail != nil {
				item.Below = append(item.Below, p.owner(o))
			}
		}
		return item
	}
	details := r.URI
	if r.UserAgent != "" {
		details += "; user agent " + r.UserAgent
	}
	if r.AuditID != "" {
		details += "; audit ID " + r.AuditID
	}
	item.Text += p.Paint(explain.Faint, " ("+details+")")
	return item
}

// owner is the item of an owner, with its own removal below it.
func (p *trailPrinter) owner(o trail.Owner) explain.Item {
	switch name := p.Paint(explain.Bold, nameOf(o.Object)); {
	case o.Trail != nil:
		name = p.Paint(explain.Bold, nameOf(o.Trail.Object))
		return explain.Item{Text: name + " " + p.fate(o.Trail), Below: p.removal(o.Trail)}
	case o.Hidden != "":
		return explain.Item{Text: name + ": not shown: " + o.Hidden}
	case o.Repeated:
		return explain.Item{Text: name + p.Paint(explain.Faint, " (shown above)")}
	default:
		return explain.Item{Text: name + ": nothing is known of a removal"}
	}
}
