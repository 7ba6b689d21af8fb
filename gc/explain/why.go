package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Cause is why an object is still there, or is about to go, in a word. Programs may compare it.
type Cause string

// The causes. The first ones are of objects that are not being deleted.
const (
	// Live: nothing deletes it. Owned: an owner keeps it.
	Live  Cause = "Live"
	Owned Cause = "Owned"
	// Immortal: it is a namespace whose deletion is forbidden.
	Immortal Cause = "Immortal"
	// OwnersGone: the collector deletes it, as all its owners are gone. OwnerWaits: as an owner is being deleted in the
	// foreground and no other one is left.
	OwnersGone Cause = "OwnersGone"
	OwnerWaits Cause = "OwnerWaits"
	// OwnerUnknown: an owner's kind is not served, or its objects are not known, so the collector keeps the object.
	OwnerUnknown Cause = "OwnerUnknown"
	// OwnerOutOfReach: a cluster-scoped object names an owner in a namespace, so the collector keeps the object.
	OwnerOutOfReach Cause = "OwnerOutOfReach"
	// NamespaceTerminating: its namespace is being deleted, and so will be the object.
	NamespaceTerminating Cause = "NamespaceTerminating"
	// PodsFirst: its namespace is being deleted, but a Pod remains, and Pods are deleted first (E-09).
	PodsFirst Cause = "PodsFirst"
	// CRDTerminating: the CustomResourceDefinition of its kind is being deleted, and so will be the object.
	CRDTerminating Cause = "CRDTerminating"

	// Terminating is the sum of what keeps an object that is being deleted; the reasons are below it.
	Terminating Cause = "Terminating"
	// Unheld: nothing keeps it, but only a write removes it (B-20).
	Unheld Cause = "Unheld"
	// Finalizer: another component's finalizer keeps it. UnknownFinalizer: nothing is known of the component.
	Finalizer        Cause = "Finalizer"
	UnknownFinalizer Cause = "UnknownFinalizer"
	// BlockingDependents: it is deleted in the foreground and dependents block it; they are below it.
	BlockingDependents Cause = "BlockingDependents"
	// Orphaning: the references of its dependents are to be removed.
	Orphaning Cause = "Orphaning"
	// CollectorBehind: only the collector has something to do. Either it has just begun, or it does not work.
	CollectorBehind Cause = "CollectorBehind"
	// GracePeriod: a Pod's grace period isn't over. KubeletSilent: it is, and the kubelet hasn't confirmed that the
	// containers ended. NodeGone: the Pod's node does not exist.
	GracePeriod   Cause = "GracePeriod"
	KubeletSilent Cause = "KubeletSilent"
	NodeGone      Cause = "NodeGone"
	// Content: a namespace or a CRD has objects; they are below it.
	Content Cause = "Content"
	// SpecFinalizer: another component's finalizer in a namespace's spec keeps it.
	SpecFinalizer Cause = "SpecFinalizer"
	// DiscoveryFailure: the namespace controller can't learn all resources. ContentFailure: it can't delete them.
	DiscoveryFailure Cause = "DiscoveryFailure"
	ContentFailure   Cause = "ContentFailure"
	// ControllerSilent: a controller that should work on it has not.
	ControllerSilent Cause = "ControllerSilent"
	// Loop: objects block each other, or one blocks itself.
	Loop Cause = "Loop"
	// Repeated: it has been explained above.
	Repeated Cause = "Repeated"
)

// Reason is why an object is still there, or is about to go.
type Reason struct {
	// Revision is that of the Cluster; 0 in reasons below another one.
	Revision int64           `json:"resourceVersion,omitempty,string"`
	Object   ObjectReference `json:"object"`
	Cause    Cause           `json:"cause"`
	// Says is the reason in words, without the object's name.
	Says string `json:"message"`
	// Remedies lead to its going, the most careful first.
	Remedies []Remedy `json:"remedies,omitempty"`
	// Below are the reasons of this one, and More the number of those that are left out.
	Below []*Reason `json:"reasons,omitempty"`
	More  int       `json:"more,omitempty"`
	// Admission, in the first reason only, are the webhooks and policies that are asked about what lets the objects go:
	// updates that remove finalizers, and deletions.
	Admission []Asked `json:"admission,omitempty"`
	// Hidden, in the first reason only, are the resources of webhooks and policies that are not known: some may be
	// missing in Admission.
	Hidden []Hidden `json:"notListed,omitempty"`
}

// most is how many reasons are listed below one.
const most = 20

// Why explains why the object is still there, or is about to go; nil if there is none at the key.
func (c *Cluster) Why(k graph.Key) *Reason {
	x := c.index()
	if x.keys[k] == nil {
		return nil
	}
	e := &explainer{
		index: x, w: x.world(x.connected([]graph.Key{k}), allWorkers),
		seen: map[graph.Key]bool{}, path: map[graph.Key]bool{},
	}
	r := e.explain(e.w.objects[k])
	r.Revision = c.Revision
	requests := map[request]bool{}
	e.await(r, requests)
	r.Admission = x.asked(requests)
	for _, h := range c.Hidden() {
		if x.resources[h.Resource].Group == unseen {
			r.Hidden = append(r.Hidden, h)
		}
	}
	return r
}

// explainer explains objects, each once.
type explainer struct {
	*index
	w    *world
	seen map[graph.Key]bool
	// path are the objects whose blocking dependents are being explained.
	path map[graph.Key]bool
}

// await collects the requests that let the objects of a reason and of those below it go.
func (e *explainer) await(r *Reason, requests map[request]bool) {
	k := r.Object.Key()
	if o := e.keys[k]; o != nil && r.Cause != Immortal {
		switch {
		case o.Deletion.IsZero():
			requests[request{key: k, operation: deleteOperation}] = true
		case len(o.Finalizers) > 0:
			requests[request{key: k, operation: updateOperation}] = true
		case o.Namespace != nil:
			requests[request{key: k, operation: updateOperation, sub: "finalize"}] = true
		}
	}
	for _, b := range r.Below {
		e.await(b, requests)
	}
}

func (e *explainer) reason(o *Object, c Cause, text string, remedies ...Remedy) *Reason {
	return &Reason{Object: e.ref(o), Cause: c, Says: text, Remedies: remedies}
}

// below adds the reasons of several objects to one: those of the first objects, as the others are counted only.
func below(r *Reason, objects []*Object, explain func(*Object) *Reason) *Reason {
	for _, o := range objects[:min(len(objects), most)] {
		r.Below = append(r.Below, explain(o))
	}
	r.More = max(0, len(objects)-most)
	return r
}

// deletingFirst sorts objects that are being deleted before others.
func deletingFirst(objects []*Object) (sorted []*Object) {
	for _, live := range []bool{false, true} {
		for _, o := range objects {
			if o.Deletion.IsZero() == live {
				sorted = append(sorted, o)
			}
		}
	}
	return sorted
}

func (e *explainer) explain(o *Object) *Reason {
	if e.seen[o.Key] {
		return e.reason(o, Repeated, "explained above")
	}
	e.seen[o.Key] = true
	if o.Deletion.IsZero() {
		return e.live(o)
	}
	r := e.reason(o, Terminating, "terminating for "+Age(e.c.Now.Sub(o.Begun())))
	r.Below = e.grace(o)
	if o.Namespace != nil {
		r.Below = append(r.Below, e.namespace(o)...)
	}
	for _, f := range o.Finalizers {
		r.Below = append(r.Below, e.finalizer(o, f))
	}
	if len(r.Below) == 0 {
		r.Below = []*Reason{e.reason(o, Unheld, "nothing keeps it; the next write removes it", touch(e.ref(o)))}
	}
	return r
}

// live explains an object that is not being deleted.
func (e *explainer) live(o *Object) *Reason {
	if r := e.swept(o); r != nil {
		return r
	}
	if e.immortal(o.Key) {
		return e.reason(o, Immortal, "live: the API server forbids its deletion")
	}
	r := e.owned(o)
	switch r.Cause {
	case Owned:
		s, _ := e.w.g.Standing(o.Key)
		owner := e.uids[o.Owners[slices.Index(s.Verdicts, graph.Solid)].UID]
		r.Remedies = []Remedy{deletion(e.ref(owner[len(owner)-1]), "if it is to go, delete its owner")}
	case OwnersGone, OwnerWaits:
		r.Remedies = []Remedy{collectorRemedy, remove(e.ref(o))}
	default:
		r.Remedies = []Remedy{remove(e.ref(o))}
	}
	return r
}

// owned explains a live object by what its owners mean to the collector.
func (e *explainer) owned(o *Object) *Reason {
	s, _ := e.w.g.Standing(o.Key)
	owners := func(verdict graph.Verdict) string {
		var names []string
		for i, v := range s.Verdicts {
			if v == verdict {
				names = append(names, "its owner "+o.Owners[i].Kind+" "+o.Owners[i].Name)
			}
		}
		return strings.Join(names, " and ")
	}
	switch s.Owners {
	case graph.SolidOwners, graph.MixedOwners:
		return e.reason(o, Owned, "kept by "+owners(graph.Solid))
	case graph.WaitingOwners:
		return e.reason(o, OwnerWaits, "to be deleted by the garbage collector, as "+owners(graph.WaitingOwner)+
			" is deleted in the foreground")
	case graph.DanglingOwners:
		return e.reason(o, OwnersGone, "to be deleted by the garbage collector, as "+owners(graph.Dangling)+
			" does not exist")
	case graph.UndecidableOwners:
		return e.reason(o, OwnerUnknown, "kept by the garbage collector, which can't tell whether "+
			owners(graph.Undecidable)+" exists: that kind is not served, or its objects are not known")
	case graph.UnreachableOwners:
		return e.reason(o, OwnerOutOfReach, "kept by the garbage collector: a cluster-scoped object can't have an"+
			" owner in a namespace, as "+owners(graph.OutOfReach)+" is")
	}
	return e.reason(o, Live, "live: nothing deletes it")
}

// blocker explains a dependent that blocks the deletion of an owner.
func (e *explainer) blocker(d, owner *Object) *Reason {
	release := e.releaseOwner(d, owner.UID)
	switch {
	case e.path[d.Key] && d.Key == owner.Key:
		return e.reason(d, Loop, "blocks itself, which Kubernetes never resolves", release)
	case e.path[d.Key]:
		return e.reason(d, Loop, "part of a loop of objects that block each other; the garbage collector breaks it",
			release)
	case !d.Deletion.IsZero() || e.seen[d.Key]:
		return e.explain(d)
	}
	e.seen[d.Key] = true
	r := e.owned(d)
	switch r.Cause {
	case Owned:
		r.Says += "; the garbage collector removes its reference to " + e.ref(owner).String()
		r.Remedies = []Remedy{collectorRemedy, release}
	case OwnerUnknown:
		r.Remedies = []Remedy{advice("let the kind be served again, if the owner exists"), release, remove(e.ref(d))}
	case OwnerOutOfReach:
		r.Remedies = []Remedy{release, remove(e.ref(d))}
	default:
		r.Remedies = []Remedy{
			collectorRemedy, advice("see that no admission webhook or policy denies the deletion"), remove(e.ref(d)),
		}
	}
	return r
}

// swept explains an object that goes with its namespace or its CRD; nil for another one.
func (e *explainer) swept(o *Object) *Reason {
	for _, n := range e.c.Objects {
		r := e.resources[n.Collection]
		switch {
		case r == nil || n.Deletion.IsZero():
		case r.Delete.Namespace && n.Name == o.Key.Namespace:
			if pods := e.pods(n.Name); len(pods) > 0 && !slices.Contains(pods, o) {
				r := e.reason(o, PodsFirst, "to be deleted with its namespace, once all Pods are gone")
				return below(r, deletingFirst(pods), e.explain)
			}
			return e.reason(o, NamespaceTerminating, "to be deleted by the namespace controller, as its namespace is"+
				" terminating", remove(e.ref(o)))
		case r.Delete.Cleanup != "" && n.defines() == o.Collection:
			return e.reason(o, CRDTerminating, "to be deleted, as the CustomResourceDefinition of its kind is"+
				" terminating", remove(e.ref(o)))
		}
	}
	return nil
}

// pods are the graceful objects of a namespace.
func (e *explainer) pods(namespace string) (pods []*Object) {
	for _, o := range e.namespaces[namespace] {
		if r := e.resources[o.Collection]; r != nil && r.Delete.Graceful {
			pods = append(pods, o)
		}
	}
	return pods
}

// finalizer explains a finalizer of an object that is being deleted.
func (e *explainer) finalizer(o *Object, name string) *Reason {
	r := e.resources[o.Collection]
	switch {
	case name == finalizers.Foreground:
		return e.foreground(o)
	case name == finalizers.Orphan:
		return e.orphan(o)
	case r != nil && name == r.Delete.Cleanup:
		return e.crd(o, name)
	}
	last := e.drop(o, name, notDone)
	setter := ""
	if by := o.Setters[name]; by != "" {
		setter = "; field manager " + by + " has set it"
	}
	if k := Lookup(name); k != nil {
		text := fmt.Sprintf("finalizer %s, which %s removes when %s%s", name, k.Component, k.Until, setter)
		return e.reason(o, Finalizer, text, advice("see that "+k.Component+" runs, and that "+k.Until), last)
	}
	return e.reason(o, UnknownFinalizer, "finalizer "+name+setter, componentRemedy, last)
}

// foreground explains an object that is deleted in the foreground.
func (e *explainer) foreground(o *Object) *Reason {
	s, _ := e.w.g.Standing(o.Key)
	last := e.drop(o, finalizers.Foreground, "the object then goes before its dependents")
	var blocking []*Object
	for _, d := range s.Dependents {
		if d.Blocking {
			blocking = append(blocking, e.w.objects[d.Key])
		}
	}
	if s.Move == graph.ReleaseForeground || len(blocking) == 0 {
		return e.reason(o, CollectorBehind, "finalizer foregroundDeletion, which the garbage collector removes, as no"+
			" dependent blocks the deletion", collectorRemedy, last)
	}
	r := e.reason(o, BlockingDependents, "finalizer foregroundDeletion: blocked by "+count(len(blocking), "dependent"),
		advice("let the dependents go, as said below"), last)
	e.path[o.Key] = true
	defer delete(e.path, o.Key)
	return below(r, deletingFirst(blocking), func(d *Object) *Reason { return e.blocker(d, o) })
}

// orphan explains an object whose dependents are to be orphaned.
func (e *explainer) orphan(o *Object) *Reason {
	s, _ := e.w.g.Standing(o.Key)
	last := e.drop(o, finalizers.Orphan, "dependents that still refer to the object are then deleted, not orphaned")
	if len(s.Dependents) == 0 {
		return e.reason(o, CollectorBehind, "finalizer orphan, which the garbage collector removes, as no dependent"+
			" refers to the object", collectorRemedy, last)
	}
	r := e.reason(o, Orphaning, "finalizer orphan: the garbage collector removes the references of "+
		count(len(s.Dependents), "dependent"), collectorRemedy, last)
	var dependents []*Object
	for _, d := range s.Dependents {
		dependents = append(dependents, e.w.objects[d.Key])
	}
	return below(r, dependents, func(d *Object) *Reason {
		return e.reason(d, Owned, "still refers to it", e.releaseOwner(d, o.UID))
	})
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
	now := removeNow(e.ref(o))
	left := o.Deletion.Sub(e.c.Now)
	node := "its node"
	if o.Pod != nil && o.Pod.Node != "" {
		node = "node " + o.Pod.Node
	}
	switch {
	case left > 0:
		return []*Reason{e.reason(o, GracePeriod, fmt.Sprintf("its grace period of %d s ends in %s", *o.GraceSeconds,
			Age(left)), Remedy{Text: "wait", Action: Wait, Object: e.ref(o)}, now)}
	case e.nodeGone(o):
		return []*Reason{e.reason(o, NodeGone, node+" does not exist; pod-garbage-collector-controller removes the Pod",
			advice("see that kube-controller-manager runs"), now)}
	}
	text := fmt.Sprintf("its grace period ended %s ago, and the kubelet of %s has not confirmed that its containers"+
		" ended", Age(-left), node)
	return []*Reason{e.reason(o, KubeletSilent, text,
		advice("see that the kubelet of "+node+" runs and that the node is Ready"), now)}
}

// nodes is the Name of the resource of nodes.
const nodes = "nodes"

// nodeGone reports whether the object is a Pod on a node that does not exist. All nodes are known then.
func (e *explainer) nodeGone(o *Object) bool {
	r := e.resources[nodes]
	return o.Pod != nil && o.Pod.Node != "" && r != nil && r.Unknown == "" &&
		e.keys[graph.Key{Collection: nodes, Name: o.Pod.Node}] == nil
}
