package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Cause is the reason why an object is still there, or is about to go, in a word. Programs may compare it.
type Cause string

// The causes of objects that are not being deleted.
const (
	Live                 Cause = "Live"                 // nothing deletes it
	Owned                Cause = "Owned"                // an owner keeps it
	Immortal             Cause = "Immortal"             // it is a namespace whose deletion is forbidden
	OwnersGone           Cause = "OwnersGone"           // the collector deletes it: all its owners are gone
	OwnerWaits           Cause = "OwnerWaits"           // the collector deletes it: an owner waits, none is solid
	OwnerUnknown         Cause = "OwnerUnknown"         // the collector keeps it: an owner is not known
	OwnerOutOfReach      Cause = "OwnerOutOfReach"      // the collector keeps it: it is cluster-scoped, its owner not
	NamespaceTerminating Cause = "NamespaceTerminating" // its namespace is being deleted, so it will be
	PodsFirst            Cause = "PodsFirst"            // as before, but Pods are deleted first, and one remains (E-09)
	CRDTerminating       Cause = "CRDTerminating"       // the CRD of its kind is being deleted, so it will be
)

// The causes of objects that are being deleted, after Terminating, which combines several of them.
const (
	Terminating        Cause = "Terminating"
	Unheld             Cause = "Unheld"             // nothing keeps it, but only a write removes it (B-20)
	Finalizer          Cause = "Finalizer"          // another component's finalizer keeps it
	UnknownFinalizer   Cause = "UnknownFinalizer"   // a finalizer of an unknown component keeps it
	BlockingDependents Cause = "BlockingDependents" // it is deleted in the foreground, and dependents block it
	Orphaning          Cause = "Orphaning"          // the references of its dependents are to be removed
	CollectorBehind    Cause = "CollectorBehind"    // the collector has just begun, or does not work
	GracePeriod        Cause = "GracePeriod"        // a Pod's grace period is not over
	KubeletSilent      Cause = "KubeletSilent"      // the grace period is over, the kubelet has not confirmed the end
	NodeGone           Cause = "NodeGone"           // the Pod's node does not exist
	Content            Cause = "Content"            // a namespace or a CRD has objects
	SpecFinalizer      Cause = "SpecFinalizer"      // another component's finalizer in a namespace's spec keeps it
	DiscoveryFailure   Cause = "DiscoveryFailure"   // the namespace controller can't learn all resources
	ContentFailure     Cause = "ContentFailure"     // a controller can't delete the content
	ControllerSilent   Cause = "ControllerSilent"   // a controller that should work on it has not
	Loop               Cause = "Loop"               // objects block each other, or one blocks itself
	Repeated           Cause = "Repeated"           // it has been explained above
)

// Reason is the reason why an object is still there, or is about to go.
type Reason struct {
	// Revision is the revision of the Cluster; 0 in reasons below another one.
	Revision int64           `json:"resourceVersion,omitempty,string"`
	Object   ObjectReference `json:"object"`
	Cause    Cause           `json:"cause"`
	Says     string          `json:"message"`            // the reason in words, without the object's name
	Remedies []Remedy        `json:"remedies,omitempty"` // ways to remove the object, the most careful first
	// Below has the reasons for this one, and More is the number of omitted ones.
	Below []*Reason `json:"reasons,omitempty"`
	More  int       `json:"more,omitempty"`
	// Admission, in the first reason only, has the webhooks and policies that get the requests which remove the
	// objects: updates that remove finalizers, and deletions.
	Admission []Asked `json:"admission,omitempty"`
	// Hidden, in the first reason only, has the resources of webhooks and policies that are not known: some may be
	// missing in Admission.
	Hidden []Hidden `json:"notListed,omitempty"`
}

// most is the maximum number of reasons below one.
const most = 20

// Why explains why the object at the key is still there, or is about to go. There must be one.
func (x *Index) Why(k graph.Key) *Reason {
	e := &explainer{
		world: x.world(x.connected([]graph.Key{k}), allWorkers),
		seen:  map[graph.Key]bool{}, path: map[graph.Key]bool{},
	}
	r := e.explain(e.objects[k])
	r.Revision, r.Admission = x.c.Revision, x.hooks(e.asked)
	r.Hidden = slices.DeleteFunc(x.c.Hidden(), func(h Hidden) bool { return x.resources[h.Resource].Group != unseen })
	return r
}

// explainer explains objects, each once.
type explainer struct {
	*world
	seen map[graph.Key]bool
	path map[graph.Key]bool // the objects whose blocking dependents are being explained
	// level is the number of reasons above the objects that are being explained.
	level int
}

// reason returns a reason of the answer. It records, for Admission, the request that removes the object.
func (e *explainer) reason(o *Object, c Cause, text string, remedies ...Remedy) *Reason {
	switch {
	case c == Immortal:
	case o.Deletion.IsZero():
		e.ask(o.Key, deleteOperation, "")
	case len(o.Finalizers) > 0:
		e.ask(o.Key, updateOperation, "")
	case o.SpecFinalizers != nil:
		e.ask(o.Key, updateOperation, "finalize")
	}
	return &Reason{Object: e.ref(o), Cause: c, Says: text, Remedies: remedies}
}

// below adds the reasons of several objects to one, those that are being deleted first. After most of them, and below
// mostLevels, the others are only counted.
func (e *explainer) below(r *Reason, objects []*Object, explain func(*Object) *Reason) *Reason {
	e.level++
	defer func() { e.level-- }()
	for _, live := range []bool{false, true} {
		for _, o := range objects {
			switch {
			case o.Deletion.IsZero() != live:
			case len(r.Below) == most || e.level > mostLevels:
				r.More++
			default:
				r.Below = append(r.Below, explain(o))
			}
		}
	}
	return r
}

func (e *explainer) explain(o *Object) *Reason {
	if e.seen[o.Key] {
		return e.reason(o, Repeated, "explained above")
	}
	e.seen[o.Key] = true
	if o.Deletion.IsZero() {
		return e.live(o)
	}
	r := e.reason(o, Terminating, "terminating for "+age(e.c.Now.Sub(o.Begun())))
	r.Below = e.grace(o)
	if o.SpecFinalizers != nil {
		r.Below = append(r.Below, e.namespace(o)...)
	}
	for _, f := range o.Finalizers {
		r.Below = append(r.Below, e.finalizer(o, f))
	}
	if len(r.Below) == 0 {
		r.Below = []*Reason{e.reason(o, Unheld, "nothing keeps it; the next write removes it", Remedy{"write it once", Touch,
			e.ref(o), "kubectl annotate " + arguments(e.ref(o)) + " kubecascade/touched=true --overwrite"})}
	}
	return r
}

// live explains an object that is not being deleted. It may be deleted with its namespace or its CRD.
func (e *explainer) live(o *Object) *Reason {
	goes := func(with graph.Key) bool { return e.keys[with] != nil && !e.keys[with].Deletion.IsZero() }
	switch in := (graph.Key{Collection: namespaces, Name: o.Namespace}); {
	case goes(in) && !e.immortal(o.Key):
		if pods := e.pods(e.content[in]); len(pods) > 0 && !slices.Contains(pods, o) {
			r := e.reason(o, PodsFirst, "to be deleted with its namespace, once all Pods are gone")
			return e.below(r, pods, e.explain)
		}
		return e.reason(o, NamespaceTerminating, "to be deleted by the namespace controller, as its namespace is"+
			" terminating", remove(e.ref(o)))
	case goes(graph.Key{Collection: crds, Name: o.Collection}):
		return e.reason(o, CRDTerminating, "to be deleted, as the CustomResourceDefinition of its kind is"+
			" terminating", remove(e.ref(o)))
	case e.immortal(o.Key):
		return e.reason(o, Immortal, "live: the API server forbids its deletion")
	}
	return e.owned(o, nil)
}

// owned explains a live object by the collector's verdicts on its owners. blocked is the owner whose deletion it
// blocks; nil for none.
func (e *explainer) owned(o, blocked *Object) *Reason {
	s, _ := e.g.Standing(o.Key)
	owners := func(verdict graph.Verdict) string {
		var names []string
		for i, v := range s.Verdicts {
			if v == verdict {
				names = append(names, "its owner "+o.Owners[i].Kind+" "+o.Owners[i].Name)
			}
		}
		return strings.Join(names, " and ")
	}
	byHand := []Remedy{remove(e.ref(o))}
	byCollector := []Remedy{collectorRemedy, remove(e.ref(o))}
	if blocked != nil {
		byHand = []Remedy{e.releaseOwner(o, blocked.UID), remove(e.ref(o))}
		byCollector = slices.Insert(byCollector, 1, advice("see that no admission webhook or policy denies the deletion"))
	}
	switch s.Owners {
	case graph.SolidOwners, graph.MixedOwners:
		text := "kept by " + owners(graph.Solid)
		if blocked != nil {
			return e.reason(o, Owned, text+"; the garbage collector removes its reference to "+e.ref(blocked).String(),
				collectorRemedy, byHand[0])
		}
		owner := e.uids[o.Owners[slices.Index(s.Verdicts, graph.Solid)].UID]
		return e.reason(o, Owned, text, deletion(e.ref(owner[len(owner)-1]), "if it is to go, delete its owner"))
	case graph.WaitingOwners:
		return e.reason(o, OwnerWaits, "to be deleted by the garbage collector, as "+owners(graph.WaitingOwner)+
			" is deleted in the foreground", byCollector...)
	case graph.DanglingOwners:
		return e.reason(o, OwnersGone, "to be deleted by the garbage collector, as "+owners(graph.Dangling)+
			" does not exist", byCollector...)
	case graph.UndecidableOwners:
		if why := e.unknown(o.Owners[slices.Index(s.Verdicts, graph.Undecidable)]); why != "" {
			return e.reason(o, OwnerUnknown, "kept if "+owners(graph.Undecidable)+" exists; the objects of that"+
				" kind are not known: "+why, byHand...)
		}
		if blocked != nil {
			byHand = slices.Insert(byHand, 0, advice("let the kind be served again, if the owner exists"))
		}
		return e.reason(o, OwnerUnknown, "kept by the garbage collector, which can't tell whether "+
			owners(graph.Undecidable)+" exists: that kind is not served", byHand...)
	case graph.UnreachableOwners:
		return e.reason(o, OwnerOutOfReach, "kept by the garbage collector: a cluster-scoped object can't have an"+
			" owner in a namespace, as "+owners(graph.OutOfReach)+" is", byHand...)
	}
	return e.reason(o, Live, "live: nothing deletes it", byHand...)
}

func (e *explainer) blocker(d, owner *Object) *Reason {
	switch {
	case e.path[d.Key] && d.Key == owner.Key:
		return e.reason(d, Loop, "blocks itself, which Kubernetes never resolves", e.releaseOwner(d, owner.UID))
	case e.path[d.Key]:
		return e.reason(d, Loop, "part of a loop of objects that block each other; the garbage collector breaks it",
			e.releaseOwner(d, owner.UID))
	case !d.Deletion.IsZero() || e.seen[d.Key]:
		return e.explain(d)
	}
	e.seen[d.Key] = true
	return e.owned(d, owner)
}

func (e *explainer) finalizer(o *Object, name string) *Reason {
	switch {
	case name == finalizers.Foreground:
		return e.foreground(o)
	case name == finalizers.Orphan:
		return e.orphan(o)
	case name == e.kind(o).Cleanup:
		return e.crd(o, name)
	}
	last := e.drop(o, name, notDone)
	setter := ""
	if by := o.Setters[name]; by != "" {
		setter = "; field manager " + by + " has set it"
	}
	if k := lookup(name); k.Component != "" {
		text := fmt.Sprintf("finalizer %s, which %s removes when %s%s%s", name, k.Component, k.Until, setter,
			usedBy(e.users(o)))
		return e.reason(o, Finalizer, text, advice("see that "+k.Component+" runs, and that "+k.Until), last)
	}
	return e.reason(o, UnknownFinalizer, "finalizer "+name+setter, componentRemedy, last)
}

func (e *explainer) foreground(o *Object) *Reason {
	s, blocking := e.dependents(o, true)
	last := e.drop(o, finalizers.Foreground, "the object then goes before its dependents")
	if s.Move == graph.ReleaseForeground || len(blocking) == 0 {
		return e.reason(o, CollectorBehind, "finalizer foregroundDeletion, which the garbage collector removes, as no"+
			" dependent blocks the deletion", collectorRemedy, last)
	}
	r := e.reason(o, BlockingDependents, "finalizer foregroundDeletion: blocked by "+count(len(blocking), "dependent"),
		advice("let the dependents go, as said below"), last)
	e.path[o.Key] = true
	defer delete(e.path, o.Key)
	return e.below(r, blocking, func(d *Object) *Reason { return e.blocker(d, o) })
}

func (e *explainer) orphan(o *Object) *Reason {
	_, dependents := e.dependents(o, false)
	last := e.drop(o, finalizers.Orphan, "dependents that still refer to the object are then deleted, not orphaned")
	if len(dependents) == 0 {
		return e.reason(o, CollectorBehind, "finalizer orphan, which the garbage collector removes, as no dependent"+
			" refers to the object", collectorRemedy, last)
	}
	r := e.reason(o, Orphaning, "finalizer orphan: the garbage collector removes the references of "+
		count(len(dependents), "dependent"), collectorRemedy, last)
	return e.below(r, dependents, func(d *Object) *Reason {
		return e.reason(d, Owned, "still refers to it", e.releaseOwner(d, o.UID))
	})
}

// dependents returns the object's standing, and its dependents or those that block it.
func (e *explainer) dependents(o *Object, blocking bool) (s graph.Standing, found []*Object) {
	s, _ = e.g.Standing(o.Key)
	for _, d := range s.Dependents {
		if d.Blocking || !blocking {
			found = append(found, e.objects[d.Key])
		}
	}
	return s, found
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// grace explains a Pod whose containers have not ended.
func (e *explainer) grace(o *Object) []*Reason {
	if o.GraceSeconds == nil || *o.GraceSeconds == 0 {
		return nil
	}
	now := Remedy{"remove the Pod without waiting for the kubelet; its containers may still run", DeleteNow, e.ref(o),
		"kubectl delete " + arguments(e.ref(o)) + " --force --grace-period=0"}
	left := o.Deletion.Sub(e.c.Now)
	node, gone := "its node", false
	if o.Pod != nil && o.Pod.Node != "" {
		r := e.resources[nodes]
		node = "node " + o.Pod.Node
		gone = r != nil && r.Unknown == "" && e.keys[graph.Key{Collection: nodes, Name: o.Pod.Node}] == nil
	}
	switch {
	case left > 0:
		return []*Reason{e.reason(o, GracePeriod, fmt.Sprintf("its grace period of %d s ends in %s", *o.GraceSeconds,
			age(left)), Remedy{Text: "wait", Action: Wait, Object: e.ref(o)}, now)}
	case gone:
		return []*Reason{e.reason(o, NodeGone, node+" does not exist; pod-garbage-collector-controller removes the Pod",
			advice("see that kube-controller-manager runs"), now)}
	}
	text := fmt.Sprintf("its grace period ended %s ago, and the kubelet of %s has not confirmed that its containers"+
		" ended", age(-left), node)
	return []*Reason{e.reason(o, KubeletSilent, text,
		advice("see that the kubelet of "+node+" runs and that the node is Ready"), now)}
}

// The Names of resources that this package looks up.
const (
	crds       = "customresourcedefinitions.apiextensions.k8s.io"
	namespaces = "namespaces"
	nodes      = "nodes"
)
