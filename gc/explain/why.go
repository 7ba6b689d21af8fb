package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Cause says in a word why an object is still there, or is about to go. Programs may compare it.
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
	w := newWorld(x.resources, x.connected([]graph.Key{k}), c.Now)
	e := &explainer{
		index: x, w: w, seen: map[graph.Key]bool{}, path: map[graph.Key]bool{}, awaits: map[graph.Key]bool{},
	}
	r := e.explain(w.objects[k])
	r.Revision = c.Revision
	r.Admission = x.asked(e.awaited(r, nil))
	for i := range c.Resources {
		if res := &c.Resources[i]; res.Unknown != "" && res.Group == unseen {
			r.Hidden = append(r.Hidden, Hidden{Resource: res.Name(), Why: res.Unknown})
		}
	}
	return r
}

// awaited appends the requests that let the objects of a reason and of those below it go.
func (e *explainer) awaited(r *Reason, all []request) []request {
	o := e.keys[r.Object.Key()]
	switch {
	case o == nil || e.awaits[o.Key] || r.Cause == Immortal:
	case o.Deletion.IsZero():
		all = append(all, request{key: o.Key, operation: deleteOperation})
	case o.Namespace != nil && len(o.Finalizers) == 0:
		all = append(all, request{key: o.Key, operation: updateOperation, sub: "finalize"})
	case len(o.Finalizers) > 0:
		all = append(all, request{key: o.Key, operation: updateOperation})
	}
	e.awaits[r.Object.Key()] = true
	for _, b := range r.Below {
		all = e.awaited(b, all)
	}
	return all
}

// explainer explains objects, each once.
type explainer struct {
	*index
	w    *world
	seen map[graph.Key]bool
	// path are the objects whose blocking dependents are being explained.
	path map[graph.Key]bool
	// awaits are the objects whose requests have been collected.
	awaits map[graph.Key]bool
}

func (e *explainer) explain(o *Object) *Reason {
	if e.seen[o.Key] {
		return e.reason(o, Repeated, "explained above")
	}
	e.seen[o.Key] = true
	if o.Deletion.IsZero() {
		return e.live(o)
	}
	return e.terminating(o)
}

func (e *explainer) terminating(o *Object) *Reason {
	r := e.reason(o, Terminating, "terminating for "+Age(e.c.Now.Sub(o.begun())))
	r.Below = append(r.Below, e.grace(o)...)
	if o.Namespace != nil {
		r.Below = append(r.Below, e.namespace(o)...)
	}
	for _, f := range o.Finalizers {
		r.Below = append(r.Below, e.finalizer(o, f))
	}
	if len(r.Below) == 0 {
		r.Below = append(r.Below, e.reason(o, Unheld, "nothing keeps it; the next write removes it", touch(e.ref(o))))
	}
	return r
}

func (e *explainer) reason(o *Object, c Cause, text string, remedies ...Remedy) *Reason {
	return &Reason{Object: e.ref(o), Cause: c, Says: text, Remedies: remedies}
}

// below explains several objects.
func (e *explainer) below(r *Reason, objects []*Object) *Reason {
	objects, r.More = first(objects)
	for _, o := range objects {
		r.Below = append(r.Below, e.explain(o))
	}
	return r
}

// first are the objects to explain, those that are being deleted before others, and the number of the rest.
func first(objects []*Object) (some []*Object, more int) {
	live := func(o *Object) int {
		if o.Deletion.IsZero() {
			return 1
		}
		return 0
	}
	some = slices.Clone(objects)
	slices.SortStableFunc(some, func(a, b *Object) int { return cmp.Compare(live(a), live(b)) })
	if len(some) > most {
		return some[:most], len(some) - most
	}
	return some, 0
}

// live explains an object that is not being deleted.
func (e *explainer) live(o *Object) *Reason {
	if r := e.swept(o); r != nil {
		return r
	}
	if e.immortal(o.Key) {
		return e.reason(o, Immortal, "live: the API server forbids its deletion")
	}
	s, _ := e.w.g.Standing(o.Key)
	r := e.owned(o, s)
	switch r.Cause {
	case Owned:
		r.Remedies = []Remedy{deletion(e.solid(o, s), "if it is to go, delete its owner")}
	case OwnersGone, OwnerWaits:
		r.Remedies = []Remedy{collectorRemedy(), remove(e.ref(o))}
	default:
		r.Remedies = []Remedy{remove(e.ref(o))}
	}
	return r
}

// owned says what the owners of a live object mean to the collector.
func (e *explainer) owned(o *Object, s graph.Standing) *Reason {
	switch s.Owners {
	case graph.SolidOwners, graph.MixedOwners:
		return e.reason(o, Owned, "kept by "+e.owners(o, s, graph.Solid))
	case graph.WaitingOwners:
		return e.reason(o, OwnerWaits, "to be deleted by the garbage collector, as "+e.owners(o, s, graph.WaitingOwner)+
			" is deleted in the foreground")
	case graph.DanglingOwners:
		return e.reason(o, OwnersGone, "to be deleted by the garbage collector, as "+e.owners(o, s, graph.Dangling)+
			" does not exist")
	case graph.UndecidableOwners:
		return e.reason(o, OwnerUnknown, "kept by the garbage collector, which can't tell whether "+
			e.owners(o, s, graph.Undecidable)+" exists: that kind is not served, or its objects are not known")
	case graph.UnreachableOwners:
		return e.reason(o, OwnerOutOfReach, "kept by the garbage collector: a cluster-scoped object can't have an owner in a"+
			" namespace, as "+e.owners(o, s, graph.OutOfReach)+" is")
	}
	return e.reason(o, Live, "live: nothing deletes it")
}

// blocker explains a dependent that blocks the deletion of an owner.
func (e *explainer) blocker(d, owner *Object) *Reason {
	if e.path[d.Key] {
		text := "part of a loop of objects that block each other; the garbage collector breaks it"
		if d.Key == owner.Key {
			text = "blocks itself, which Kubernetes never resolves"
		}
		return e.reason(d, Loop, text, releaseOwner(d, e.ref(d), owner.UID))
	}
	if !d.Deletion.IsZero() || e.seen[d.Key] {
		return e.explain(d)
	}
	e.seen[d.Key] = true
	s, _ := e.w.g.Standing(d.Key)
	r := e.owned(d, s)
	switch release := releaseOwner(d, e.ref(d), owner.UID); r.Cause {
	case Owned:
		r.Says += "; the garbage collector removes its reference to " + e.ref(owner).String()
		r.Remedies = []Remedy{collectorRemedy(), release}
	case OwnerUnknown:
		r.Remedies = []Remedy{
			{Text: "let the kind be served again, if the owner exists"}, release, remove(e.ref(d)),
		}
	case OwnerOutOfReach:
		r.Remedies = []Remedy{release, remove(e.ref(d))}
	default:
		r.Remedies = []Remedy{
			collectorRemedy(), {Text: "see that no admission webhook or policy denies the deletion"}, remove(e.ref(d)),
		}
	}
	return r
}

// swept explains an object that goes with its namespace or its CRD; nil for another one.
func (e *explainer) swept(o *Object) *Reason {
	for _, n := range e.c.Objects {
		r := e.resources[n.Collection]
		if r == nil || n.Deletion.IsZero() {
			continue
		}
		if r.Delete.Namespace && n.Name == o.Key.Namespace {
			pods := e.pods(n.Name)
			if len(pods) > 0 && !slices.Contains(pods, o) {
				return e.below(e.reason(o, PodsFirst, "to be deleted with its namespace, once all Pods are gone"), pods)
			}
			return e.reason(
				o,
				NamespaceTerminating,
				"to be deleted by the namespace controller, as its namespace is terminating",
				remove(e.ref(o)),
			)
		}
		if r.Delete.Cleanup != "" && n.defines() == o.Collection {
			return e.reason(o, CRDTerminating, "to be deleted, as the CustomResourceDefinition of its kind is terminating",
				remove(e.ref(o)))
		}
	}
	return nil
}

// pods are the graceful objects of a namespace.
func (e *explainer) pods(namespace string) (pods []*Object) {
	for _, o := range e.namespaces[namespace] {
		if e.resources[o.Collection] != nil && e.resources[o.Collection].Delete.Graceful {
			pods = append(pods, o)
		}
	}
	return pods
}

// owners names the owners with these verdicts.
func (e *explainer) owners(o *Object, s graph.Standing, verdicts ...graph.Verdict) string {
	var names []string
	for i, v := range s.Verdicts {
		if slices.Contains(verdicts, v) {
			names = append(names, "its owner "+o.Owners[i].Kind+" "+o.Owners[i].Name)
		}
	}
	return strings.Join(names, " and ")
}

// solid is the first owner that keeps the object.
func (e *explainer) solid(o *Object, s graph.Standing) (found ObjectReference) {
	for i, v := range s.Verdicts {
		if v == graph.Solid && found.Name == "" {
			for _, owner := range e.uids[o.Owners[i].UID] {
				found = e.ref(owner)
			}
		}
	}
	return found
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
	setter := ""
	if by := o.Setters[name]; by != "" {
		setter = fmt.Sprintf("; field manager %s has set it", by)
	}
	known := Lookup(name)
	if known == nil {
		return e.reason(o, UnknownFinalizer, "finalizer "+name+setter,
			Remedy{Text: "see that the component that sets the finalizer runs, and read its logs"},
			drop(e.ref(o), finalizersList, slices.Index(o.Finalizers, name), name))
	}
	return e.reason(
		o,
		Finalizer,
		fmt.Sprintf("finalizer %s, which %s removes when %s%s", name, known.Component, known.Until,
			setter),
		Remedy{Text: fmt.Sprintf("see that %s runs, and that %s", known.Component, known.Until)},
		drop(e.ref(o), finalizersList, slices.Index(o.Finalizers, name), name),
	)
}

// foreground explains an object that is deleted in the foreground.
func (e *explainer) foreground(o *Object) *Reason {
	s, _ := e.w.g.Standing(o.Key)
	last := drop(
		e.ref(o),
		finalizersList,
		slices.Index(o.Finalizers, finalizers.Foreground),
		finalizers.Foreground,
	)
	last.Text = "last, remove the finalizer by hand; the object then goes before its dependents"
	var blocking []*Object
	for _, d := range s.Dependents {
		if d.Blocking {
			blocking = append(blocking, e.w.objects[d.Key])
		}
	}
	if s.Move == graph.ReleaseForeground || len(blocking) == 0 {
		return e.reason(o, CollectorBehind, "finalizer foregroundDeletion, which the garbage collector removes, as no"+
			" dependent blocks the deletion", collectorRemedy(), last)
	}
	r := e.reason(o, BlockingDependents, fmt.Sprintf("finalizer foregroundDeletion: blocked by %s", count(len(blocking),
		"dependent")), Remedy{Text: "let the dependents go, as said below"}, last)
	e.path[o.Key] = true
	blocking, r.More = first(blocking)
	for _, d := range blocking {
		r.Below = append(r.Below, e.blocker(d, o))
	}
	delete(e.path, o.Key)
	return r
}

// orphan explains an object whose dependents are to be orphaned.
func (e *explainer) orphan(o *Object) *Reason {
	s, _ := e.w.g.Standing(o.Key)
	last := drop(e.ref(o), finalizersList, slices.Index(o.Finalizers, finalizers.Orphan), finalizers.Orphan)
	last.Text = "last, remove the finalizer by hand; dependents that still refer to the object are then deleted, not" +
		" orphaned"
	if len(s.Dependents) == 0 {
		return e.reason(o, CollectorBehind, "finalizer orphan, which the garbage collector removes, as no dependent refers"+
			" to the object", collectorRemedy(), last)
	}
	r := e.reason(o, Orphaning, fmt.Sprintf("finalizer orphan: the garbage collector removes the references of %s",
		count(len(s.Dependents), "dependent")), collectorRemedy())
	for i, d := range s.Dependents {
		if i == most {
			r.More = len(s.Dependents) - most
			break
		}
		dependent := e.w.objects[d.Key]
		r.Below = append(
			r.Below,
			e.reason(dependent, Owned, "still refers to it", releaseOwner(dependent, e.ref(dependent), o.UID)),
		)
	}
	r.Remedies = append(r.Remedies, last)
	return r
}

func collectorRemedy() Remedy {
	return Remedy{Text: "see that the garbage collector (kube-controller-manager) runs and may write, and read its logs"}
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
	if left := o.Deletion.Sub(e.c.Now); left > 0 {
		return []*Reason{
			e.reason(
				o,
				GracePeriod,
				fmt.Sprintf("its grace period of %d s ends in %s", *o.GraceSeconds, Age(left)),
				Remedy{Text: "wait", Action: Wait, Object: e.ref(o)},
				now,
			),
		}
	}
	node := "its node"
	if o.Pod != nil && o.Pod.Node != "" {
		node = "node " + o.Pod.Node
		if e.nodeGone(o.Pod.Node) {
			return []*Reason{e.reason(o, NodeGone, node+" does not exist; pod-garbage-collector-controller removes the Pod",
				Remedy{Text: "see that kube-controller-manager runs"}, now)}
		}
	}
	return []*Reason{e.reason(o, KubeletSilent, fmt.Sprintf("its grace period ended %s ago, and the kubelet of %s has not"+
		" confirmed that its containers ended", Age(e.c.Now.Sub(o.Deletion)), node),
		Remedy{Text: "see that the kubelet of " + node + " runs and that the node is Ready"}, now)}
}

// nodes is the Name of the resource of nodes.
const nodes = "nodes"

// nodeGone reports whether all nodes are known and there is none of this name.
func (e *explainer) nodeGone(name string) bool {
	r := e.resources[nodes]
	return r != nil && r.Unknown == "" && e.keys[graph.Key{Collection: nodes, Name: name}] == nil
}
