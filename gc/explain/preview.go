package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// What is what happens to an object.
type What string

// The changes.
const (
	// Deleted: the object is removed.
	Deleted What = "Deleted"
	// Marked: its deletion begins; finalizers or a grace period keep it.
	Marked What = "Terminating"
	// Refinalized: it was terminating already, and its finalizers or its grace period are changed.
	Refinalized What = "FinalizersChanged"
	// Released: references to owners are removed.
	Released What = "OwnersRemoved"
	// Unblocked: blockOwnerDeletion is set to false in references.
	Unblocked What = "Unblocked"
	// Freed: a finalizer is removed.
	Freed What = "FinalizerRemoved"
)

// By is the component that does something. Of well-known finalizers it is the component that removes them.
type By string

// The components.
const (
	User                By = "user"
	Collector           By = "garbage collector"
	NamespaceController By = "namespace controller"
	CRDController       By = "CustomResourceDefinition controller"
	Kubelet             By = "kubelet"
)

// Change is one thing that happens to an object.
type Change struct {
	What   What            `json:"change"`
	Object ObjectReference `json:"object"`
	By     By              `json:"by"`
	// Owners are the references that are removed or unblocked.
	Owners []OwnerReference `json:"owners,omitempty"`
	// Finalizers keep a terminating object (Marked, Refinalized), or are removed.
	Finalizers []string `json:"finalizers,omitempty"`
}

// Deletion is a DELETE of an object.
type Deletion struct {
	Key     graph.Key
	Options finalizers.Options
}

// Preview is what happens if objects are deleted.
type Preview struct {
	// Revision is that of the Cluster.
	Revision int64 `json:"resourceVersion,omitempty,string"`
	// Before are changes that happen without the deletions, as something else has caused them.
	Before []Change `json:"before,omitempty"`
	// Changes are those that follow from the deletions, in an order in which they can happen; not nil.
	Changes []Change `json:"changes"`
	// Left are the objects that are being deleted at the end and stay, as nothing that is known lets them go.
	Left []Left `json:"terminating,omitempty"`
	// Dangling are references of objects that stay to objects that are deleted.
	Dangling []Dangling `json:"dangling,omitempty"`
	// Counts are the numbers of objects, by resource, those with most first; not nil.
	Counts   []Count   `json:"counts"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Admission are the webhooks and policies that are asked about the requests of the changes. The preview assumes that
	// they allow them.
	Admission []Asked `json:"admission,omitempty"`
	// Absent are objects that were to be deleted and don't exist. Cluster.Preview doesn't set it.
	Absent []graph.Key `json:"notFound,omitempty"`
	// Racing: the outcome depends on how fast the deletions follow each other, or on the order in which the garbage
	// collector processes objects. A warning explains it.
	Racing bool `json:"-"`
}

// Left is an object that is being deleted and stays.
type Left struct {
	Object ObjectReference `json:"object"`
	// Finalizers keep it; nil if its grace period does.
	Finalizers []string `json:"finalizers"`
}

// Dangling is a reference to an owner that is gone.
type Dangling struct {
	Object ObjectReference `json:"object"`
	Owner  OwnerReference  `json:"owner"`
}

// Count is how many objects of a resource a preview deletes, releases from their owners, and leaves terminating.
type Count struct {
	// Resource is its Name.
	Resource string `json:"resource"`
	Deleted  int    `json:"deleted"`
	Released int    `json:"ownersRemoved"`
	Left     int    `json:"terminating"`
}

// Warning is something to know before deleting.
type Warning struct {
	// Object is the one that it is about; zero if it is about a resource or all.
	Object ObjectReference `json:"object,omitzero"`
	Text   string          `json:"message"`
}

// Preview computes what the deletions would do. Keys without an object are ignored. It assumes that all components
// work, and that no other client writes meanwhile. It is nil after Stop has returned true.
func (c *Cluster) Preview(deletions []Deletion) *Preview {
	x := c.index()
	all := deletions
	deletions = slices.DeleteFunc(slices.Clone(all), func(d Deletion) bool { return x.immortal(d.Key) })
	keys := make([]graph.Key, len(deletions))
	for i, d := range deletions {
		keys[i] = d.Key
	}
	objects := x.connected(keys)
	w := c.world(x.resources, objects, len(objects)+1)
	w.stop = c.Stop
	w.settle()
	p := &Preview{Before: w.changes, Revision: c.Revision}
	w.changes, w.asked = []Change{}, nil
	for _, d := range all {
		if o := x.keys[d.Key]; o != nil && x.immortal(d.Key) {
			p.Warnings = append(p.Warnings, Warning{Object: x.ref(o), Text: "the API server forbids its deletion"})
		}
	}
	p.Warnings = append(p.Warnings, x.warn(w, deletions)...)
	w.carry(deletions, atOnce)
	p.Changes, p.Admission = w.changes, x.asked(once(w.asked))
	p.conclude(w, deletions)
	if why := c.race(x.resources, w, deletions, objects); why != "" {
		p.Racing = true
		p.Warnings = append(p.Warnings, Warning{Text: why})
	}
	if w.stopped || c.Stop != nil && c.Stop() {
		return nil
	}
	return p
}

// mostPauses bounds how many places race tries for a single pause between deletions.
const mostPauses = 8

// race says why the outcome may be another one than that of w, if it may. It can't try all orders in which requests and
// the collector's work may follow each other: it tries the extreme ones, and a single pause at each place.
func (c *Cluster) race(
	resources map[string]*Resource, w *world, deletions []Deletion, objects []*Object,
) string {
	differs := func(other *world, pause func(after int) bool) bool {
		other.stop = c.Stop
		other.settle()
		other.carry(deletions, pause)
		return !w.same(other)
	}
	many := func() *world { return c.world(resources, objects, len(objects)+1) }
	one := func() *world { return c.world(resources, objects, 1) }
	backwards := func() *world {
		other := many()
		other.last = true
		return other
	}
	pauses := []func(after int) bool{func(int) bool { return true }}
	for i := range min(len(deletions)-1, mostPauses) {
		pauses = append(pauses, func(after int) bool { return after == i })
	}
	for _, pause := range pauses {
		if len(deletions) > 1 && (differs(many(), pause) || differs(one(), pause) || differs(backwards(), pause)) {
			return "the outcome depends on how fast the deletions follow each other: this is what happens if they come at once"
		}
	}
	if differs(one(), atOnce) || differs(backwards(), atOnce) {
		return "the outcome depends on the order in which the garbage collector processes the objects: this is one of several"
	}
	return ""
}

// once are the requests without those that were made before.
func once(all []request) (different []request) {
	seen := map[request]bool{}
	for _, r := range all {
		if !seen[r] {
			seen[r] = true
			different = append(different, r)
		}
	}
	return different
}

// atOnce is no pause after any deletion.
func atOnce(int) bool { return false }

// carry carries the deletions out. After those for which pause is true, everything that they cause is done first.
func (w *world) carry(deletions []Deletion, pause func(after int) bool) {
	for i, d := range deletions {
		if o := w.objects[d.Key]; o != nil {
			w.delete(o, d.Options, User)
		}
		if pause(i) {
			w.settle()
		}
	}
	w.settle()
}

// same reports whether two worlds have the same objects, with the same owners and finalizers.
func (w *world) same(v *world) bool {
	return maps.EqualFunc(w.objects, v.objects, func(a, b *Object) bool {
		return slices.Equal(a.Owners, b.Owners) && slices.Equal(w.holds(a), v.holds(b)) &&
			a.Deletion.IsZero() == b.Deletion.IsZero()
	})
}

// conclude sums up the end. Objects that were to be deleted and are still terminating are left, too, if they were
// before.
func (p *Preview) conclude(w *world, deletions []Deletion) {
	counts := map[string]*Count{}
	count := func(name string) *Count {
		if counts[name] == nil {
			counts[name] = &Count{Resource: name}
		}
		return counts[name]
	}
	gone, marked := map[string]bool{}, map[graph.Key]bool{}
	for _, d := range deletions {
		if o := w.objects[d.Key]; o != nil && !o.Deletion.IsZero() {
			marked[d.Key] = true
		}
	}
	released := map[graph.Key]bool{}
	for _, c := range p.Changes {
		switch c.What {
		case Deleted:
			gone[c.Object.UID] = true
			count(c.Object.resource).Deleted++
		case Marked, Refinalized:
			marked[c.Object.Key()] = true
		case Released:
			released[c.Object.Key()] = true
		}
	}
	for k := range released {
		if w.objects[k] != nil {
			count(k.Collection).Released++
		}
	}
	for _, o := range w.sorted(func(*Object) bool { return true }) {
		if marked[o.Key] {
			count(o.Collection).Left++
			p.Left = append(p.Left, Left{Object: w.ref(o), Finalizers: w.holds(o)})
		}
		for _, owner := range o.Owners {
			if gone[owner.UID] {
				p.Dangling = append(p.Dangling, Dangling{Object: w.ref(o), Owner: OwnerReference(owner)})
			}
		}
	}
	p.Counts = []Count{}
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		p.Counts = append(p.Counts, *counts[n])
	}
	slices.SortStableFunc(p.Counts, func(a, b Count) int {
		return cmp.Compare(b.Deleted+b.Released+b.Left, a.Deleted+a.Released+a.Left)
	})
}

// holds are the finalizers of an object, those in the spec of a namespace included.
func (w *world) holds(o *Object) []string {
	held := slices.Clone(o.Finalizers)
	if o.Namespace != nil {
		for _, f := range o.Namespace.Finalizers {
			held = append(held, f+" (in spec)")
		}
	}
	return held
}

// warn collects the warnings.
func (x *index) warn(w *world, deletions []Deletion) []Warning {
	var warnings []Warning
	for _, d := range deletions {
		o := w.objects[d.Key]
		if o == nil {
			continue
		}
		add := func(format string, args ...any) {
			warnings = append(warnings, Warning{Object: w.ref(o), Text: fmt.Sprintf(format, args...)})
		}
		k := w.kind(o)
		if owner := o.controller(); owner != nil && w.owns(o, *owner) {
			add("%s %s controls it and may create another one", owner.Kind, owner.Name)
		}
		if k.Namespace && x.c.Held {
			for _, s := range x.c.Unavailable { // E-14, J-25
				add("it stays as long as APIService %s is not available (%s)", s.Name, s.Message)
			}
		}
		switch policy := w.policy(o, d.Options); {
		case k.Namespace && policy != "":
			add("the propagation policy has no effect on the namespace's content, which is deleted with Background") // E-10
		case k.Cleanup != "" && d.Options.PropagationPolicy == "Orphan":
			add("the propagation policy has no effect: all custom resources of the CRD are deleted") // C-84
		case policy == finalizers.Orphan:
			if n := len(x.dependents[o.UID]); n > 0 && x.controls(o) {
				add("a dependent that is created while the collector removes the references is not orphaned in Kubernetes," +
					" but deleted")
			}
		case policy == finalizers.Foreground:
			if free := x.free(o); free > 0 {
				add("%d of its dependents do not set blockOwnerDeletion: it may be removed before they are", free)
			}
		}
	}
	if x.resources["namespaces"] == nil {
		warnings = append(warnings, Warning{Text: "the server serves no namespaces: it is a part of a cluster, and a garbage" +
			" collector may not watch it; without one, what the garbage collector does here does not happen"})
	}
	return append(warnings, x.unknown()...)
}

// policy is the collector's finalizer that the DELETE leaves; empty for none.
func (w *world) policy(o *Object, options finalizers.Options) string {
	v := finalizers.Delete(lifecycle(o), w.kind(o), options, w.now)
	for _, f := range []string{finalizers.Orphan, finalizers.Foreground} {
		if v.Step == finalizers.Store && slices.Contains(v.Finalizers, f) {
			return f
		}
	}
	return ""
}

// controller is the reference to the owner that controls the object.
func (o *Object) controller() *graph.Owner {
	for i := range o.Owners {
		if o.Owners[i].UID == o.Controller {
			return &o.Owners[i]
		}
	}
	return nil
}

// owns reports whether the owner exists and is not being deleted.
func (w *world) owns(o *Object, owner graph.Owner) bool {
	s, ok := w.g.Standing(o.Key)
	for i, verdict := range s.Verdicts {
		if ok && o.Owners[i] == owner && verdict == graph.Solid {
			return len(w.sorted(func(p *Object) bool { return p.UID == owner.UID && p.Deletion.IsZero() })) > 0
		}
	}
	return false
}

// controls reports whether the object controls another one.
func (x *index) controls(o *Object) bool {
	return slices.ContainsFunc(x.dependents[o.UID], func(d *Object) bool { return d.Controller == o.UID })
}

// free counts the dependents that do not block the object.
func (x *index) free(o *Object) (n int) {
	for _, d := range x.dependents[o.UID] {
		if !slices.ContainsFunc(d.Owners, func(r graph.Owner) bool { return r.UID == o.UID && r.Block }) {
			n++
		}
	}
	return n
}

// unknown warns of resources whose objects aren't known: one warning for each reason and each consequence.
func (x *index) unknown() (warnings []Warning) {
	var hooks, others, elsewhere []Hidden
	for _, name := range slices.Sorted(maps.Keys(x.resources)) {
		r := x.resources[name]
		switch h := (Hidden{Resource: name, Why: r.Unknown}); {
		case r.Unknown == "":
		case r.Group == unseen:
			hooks = append(hooks, h)
		case r.Within != "":
			elsewhere = append(elsewhere, h)
		default:
			others = append(others, h)
		}
	}
	warn := func(all []Hidden, consequence string) {
		for _, h := range Grouped(all) {
			text := fmt.Sprintf("the objects of %s are not known (%s), so %s", h.Resource, h.Why, consequence)
			warnings = append(warnings, Warning{Text: text})
		}
	}
	warn(others, "effects on them are not shown")
	warn(elsewhere, "effects on others are not shown")
	warn(hooks, "webhooks and policies that may deny are not named")
	return warnings
}
