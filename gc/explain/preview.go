package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// What is the kind of a Change.
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

// By is the component that makes a Change. Of well-known finalizers it is the component that removes them.
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
	// Admission are the webhooks and policies that are asked about the requests of the changes. The preview assumes
	// that they allow them.
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

// Preview computes the effect of the deletions. Keys without an object are ignored. It assumes that all components
// work, and that no other client writes in the meantime. It is nil after Stop has returned true.
func (c *Cluster) Preview(deletions []Deletion) *Preview {
	x := c.index()
	p := &Preview{Revision: c.Revision, Counts: []Count{}}
	var allowed []Deletion
	var keys []graph.Key
	for _, d := range deletions {
		switch o := x.keys[d.Key]; {
		case !x.immortal(d.Key):
			allowed, keys = append(allowed, d), append(keys, d.Key)
		case o != nil:
			p.Warnings = append(p.Warnings, Warning{Object: x.ref(o), Text: "the API server forbids its deletion"})
		}
	}
	objects := x.connected(keys)
	w := x.world(objects, allWorkers)
	w.settle()
	p.Before = w.changes
	w.changes = []Change{}
	clear(w.asked)
	p.Warnings = append(p.Warnings, x.warn(w, allowed)...)
	w.carry(allowed, atOnce)
	p.Changes, p.Admission = w.changes, x.asked(w.asked)
	p.conclude(w, allowed)
	if why := x.race(w, allowed, objects); why != "" {
		p.Racing = true
		p.Warnings = append(p.Warnings, Warning{Text: why})
	}
	if w.stopped || c.Stop != nil && c.Stop() {
		return nil
	}
	return p
}

// pauses reports whether everything that deletion i causes is done before the next one.
type pauses func(i int) bool

func atOnce(int) bool { return false }

// carry executes the deletions.
func (w *world) carry(deletions []Deletion, pauses pauses) {
	for i, d := range deletions {
		if o := w.objects[d.Key]; o != nil {
			w.delete(o, d.Options, User)
		}
		if pauses(i) {
			w.settle()
		}
	}
	w.settle()
}

// mostPauses bounds how many places race tries for a single pause between deletions.
const mostPauses = 8

// race returns why the outcome may be another one than that of w; empty if no other one is found. It can't try all
// orders in which requests and the collector's work may follow each other: it tries the extreme ones, and a single
// pause at each place.
func (x *index) race(w *world, deletions []Deletion, objects []*Object) string {
	differs := func(workers int, last bool, pauses pauses) bool {
		other := x.world(objects, workers)
		other.last = last
		other.settle()
		other.carry(deletions, pauses)
		return !w.same(other)
	}
	orders := func(p pauses) bool { return differs(1, false, p) || differs(allWorkers, true, p) }
	for i := -1; i < len(deletions)-1 && i < mostPauses; i++ { // -1: a pause after each deletion
		p := func(after int) bool { return i < 0 || after == i }
		if len(deletions) > 1 && (differs(allWorkers, false, p) || orders(p)) {
			return "the outcome depends on how fast the deletions follow each other: this is what happens if they" +
				" come at once"
		}
	}
	if orders(atOnce) {
		return "the outcome depends on the order in which the garbage collector processes the objects: this is one of" +
			" several"
	}
	return ""
}

// same reports whether two worlds have the same objects, with the same owners and finalizers.
func (w *world) same(v *world) bool {
	return maps.EqualFunc(w.objects, v.objects, func(a, b *Object) bool {
		return slices.Equal(a.Owners, b.Owners) && slices.Equal(w.holds(a), v.holds(b)) &&
			a.Deletion.IsZero() == b.Deletion.IsZero()
	})
}

// conclude adds what stays, and the numbers. Objects that were to be deleted and are still terminating are left, too,
// if they were before.
func (p *Preview) conclude(w *world, deletions []Deletion) {
	counts := map[string]*Count{}
	count := func(k graph.Key) *Count {
		if counts[k.Collection] == nil {
			counts[k.Collection] = &Count{Resource: k.Collection}
		}
		return counts[k.Collection]
	}
	gone, marked, released := map[string]bool{}, map[graph.Key]bool{}, map[graph.Key]bool{}
	for _, d := range deletions {
		marked[d.Key] = true
	}
	for _, c := range p.Changes {
		switch k := c.Object.Key(); c.What {
		case Deleted:
			gone[c.Object.UID] = true
			count(k).Deleted++
		case Marked, Refinalized:
			marked[k] = true
		case Released:
			released[k] = true
		}
	}
	for _, o := range w.sorted(func(*Object) bool { return true }) {
		if released[o.Key] {
			count(o.Key).Released++
		}
		if marked[o.Key] && !o.Deletion.IsZero() {
			count(o.Key).Left++
			p.Left = append(p.Left, Left{Object: w.ref(o), Finalizers: w.holds(o)})
		}
		for _, owner := range o.Owners {
			if gone[owner.UID] {
				p.Dangling = append(p.Dangling, Dangling{Object: w.ref(o), Owner: OwnerReference(owner)})
			}
		}
	}
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

// warn returns the warnings about the deletions.
func (x *index) warn(w *world, deletions []Deletion) (warnings []Warning) {
	for _, d := range deletions {
		if o := w.objects[d.Key]; o != nil {
			for _, text := range x.dangers(w, o, d.Options) {
				warnings = append(warnings, Warning{Object: w.ref(o), Text: text})
			}
		}
	}
	if x.resources["namespaces"] == nil {
		warnings = append(warnings, Warning{Text: "the server serves no namespaces: it is a part of a cluster, and a" +
			" garbage collector may not watch it; without one, what the garbage collector does here does not happen"})
	}
	return append(warnings, x.unknown()...)
}

// dangers are the warnings about the deletion of an object.
func (x *index) dangers(w *world, o *Object, options finalizers.Options) (texts []string) {
	add := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	k := w.kind(o)
	if owner := x.controller(w, o); owner != nil {
		add("%s %s controls it and may create another one", owner.Kind, owner.Name)
	}
	if k.Namespace && x.c.Held {
		for _, s := range x.c.Unavailable { // E-14, J-25
			add("it stays as long as APIService %s is not available (%s)", s.Name, s.Message)
		}
	}
	verdict := finalizers.Delete(lifecycle(o), k, options, w.now)
	leaves := func(finalizer string) bool {
		return verdict.Step == finalizers.Store && slices.Contains(verdict.Finalizers, finalizer)
	}
	dependents := x.dependents[o.UID]
	switch orphan, foreground := leaves(finalizers.Orphan), leaves(finalizers.Foreground); {
	case k.Namespace && (orphan || foreground):
		add("the propagation policy has no effect on the namespace's content, which is deleted with Background") // E-10
	case k.Cleanup != "" && options.PropagationPolicy == "Orphan":
		add("the propagation policy has no effect: all custom resources of the CRD are deleted") // C-84
	case orphan:
		if slices.ContainsFunc(dependents, func(d *Object) bool { return d.Controller == o.UID }) {
			add("a dependent that is created while the collector removes the references is not orphaned in" +
				" Kubernetes, but deleted")
		}
	case foreground:
		free := 0
		for _, d := range dependents {
			if !slices.ContainsFunc(d.Owners, func(r graph.Owner) bool { return r.UID == o.UID && r.Block }) {
				free++
			}
		}
		if free > 0 {
			add("%d of its dependents do not set blockOwnerDeletion: it may be removed before they are", free)
		}
	}
	return texts
}

// controller is the reference to the owner that controls the object; nil if there is none, or if it is being deleted.
func (x *index) controller(w *world, o *Object) *graph.Owner {
	i := slices.IndexFunc(o.Owners, func(r graph.Owner) bool { return r.UID == o.Controller })
	s, _ := w.g.Standing(o.Key)
	if i < 0 || i >= len(s.Verdicts) || s.Verdicts[i] != graph.Solid {
		return nil
	}
	for _, p := range x.uids[o.Controller] {
		if now := w.objects[p.Key]; now != nil && now.UID == p.UID && now.Deletion.IsZero() {
			return &o.Owners[i]
		}
	}
	return nil
}

// unknown warns of resources whose objects aren't known: one warning for each reason and each consequence.
func (x *index) unknown() (warnings []Warning) {
	consequences := []string{"effects on them are not shown", "effects on others are not shown",
		"webhooks and policies that may deny are not named"}
	hidden := make([][]Hidden, len(consequences))
	for _, name := range slices.Sorted(maps.Keys(x.resources)) {
		r, i := x.resources[name], 0
		switch {
		case r.Unknown == "":
			continue
		case r.Group == unseen:
			i = 2
		case r.Within != "":
			i = 1
		}
		hidden[i] = append(hidden[i], Hidden{Resource: name, Why: r.Unknown})
	}
	for i, consequence := range consequences {
		for _, h := range Grouped(hidden[i]) {
			text := fmt.Sprintf("the objects of %s are not known (%s), so %s", h.Resource, h.Why, consequence)
			warnings = append(warnings, Warning{Text: text})
		}
	}
	return warnings
}
