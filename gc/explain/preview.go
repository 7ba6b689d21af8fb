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
	Deleted     What = "Deleted"           // the object is removed
	Marked      What = "Terminating"       // its deletion begins; finalizers or a grace period keep it
	Refinalized What = "FinalizersChanged" // it was terminating already; its finalizers or grace period are changed
	Released    What = "OwnersRemoved"     // references to owners are removed
	Unblocked   What = "Unblocked"         // blockOwnerDeletion is set to false in references
	Freed       What = "FinalizerRemoved"  // a finalizer is removed
)

// The components that make changes, besides those that remove well-known finalizers.
const (
	User                = "user"
	Collector           = "garbage collector"
	NamespaceController = "namespace controller"
	CRDController       = "CustomResourceDefinition controller"
	Kubelet             = "kubelet"
)

// Change is one thing that happens to an object.
type Change struct {
	What   What            `json:"change"`
	Object ObjectReference `json:"object"`
	By     string          `json:"by"`               // a component
	Owners []graph.Owner   `json:"owners,omitempty"` // the references that are removed or unblocked
	// Finalizers keep a terminating object (Marked, Refinalized), or are removed.
	Finalizers []string `json:"finalizers,omitempty"`
}

// Preview has the effects of the deletion of objects.
type Preview struct {
	Revision int64 `json:"resourceVersion,omitempty,string"` // that of the Cluster
	// Before has changes that happen even without the deletions.
	Before []Change `json:"before,omitempty"`
	// Changes has the changes that follow from the deletions, in a possible order; not nil.
	Changes []Change `json:"changes"`
	// Left has the objects that are still terminating at the end, as nothing known removes them.
	Left     []Left     `json:"terminating,omitempty"`
	Dangling []Dangling `json:"dangling,omitempty"` // references of objects that stay to objects that are deleted
	// Counts has the numbers of objects by resource, the largest first; not nil.
	Counts   []Count   `json:"counts"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Admission has the webhooks and policies that get the requests of the changes. The preview assumes that they allow
	// these.
	Admission []Asked `json:"admission,omitempty"`
	// Absent has keys for deletion at which no object exists. Index.Preview doesn't set it.
	Absent []graph.Key `json:"notFound,omitempty"`
	// Selected is the number of objects that a selector has selected. Index.Preview doesn't set it.
	Selected int `json:"selected,omitempty"`
}

// Left is an object that is being deleted and stays.
type Left struct {
	Object     ObjectReference `json:"object"`
	Finalizers []string        `json:"finalizers"` // those that keep it; nil if only its grace period keeps it
	// UsedBy has the objects because of which a component of Kubernetes keeps its finalizer.
	UsedBy []ObjectReference `json:"usedBy,omitempty"`
}

// Dangling is a reference to an owner that is gone.
type Dangling struct {
	Object ObjectReference `json:"object"`
	Owner  graph.Owner     `json:"owner"`
}

// Count has the numbers of objects of a resource that a preview deletes, releases from their owners, and leaves
// terminating.
type Count struct {
	Resource string `json:"resource"` // its Name
	Deleted  int    `json:"deleted"`
	Released int    `json:"ownersRemoved"`
	Left     int    `json:"terminating"`
}

// Warning is something to know before deleting.
type Warning struct {
	Object ObjectReference `json:"object,omitzero"` // what it is about; zero for a resource or all
	Text   string          `json:"message"`
}

// Preview computes the effect of deletions of the objects, in this order. Keys without an object are ignored. It
// assumes that all components work, and that no other client writes in the meantime. It returns nil after Stop has
// returned true.
func (x *Index) Preview(keys []graph.Key, options finalizers.Options) *Preview {
	p := &Preview{Revision: x.c.Revision, Counts: []Count{}}
	var allowed []graph.Key
	for _, k := range keys {
		switch o := x.keys[k]; {
		case !x.immortal(k):
			allowed = append(allowed, k)
		case o != nil:
			p.warn(x.resources[o.Collection].reference(o), "the API server forbids its deletion")
		}
	}
	objects := x.connected(allowed)
	w := x.world(objects, allWorkers)
	w.settle()
	p.Before = w.changes
	w.changes = []Change{}
	clear(w.asked)
	for _, k := range allowed {
		if o := w.objects[k]; o != nil {
			p.dangers(w, o, options)
		}
	}
	p.unknown(x)
	w.carry(allowed, options, never)
	p.Changes, p.Admission = w.changes, x.hooks(w.asked)
	p.conclude(w, allowed)
	if why := w.race(allowed, options, objects); why != "" {
		p.warn(ObjectReference{}, "%s", why)
	}
	if !w.wanted() {
		return nil
	}
	return p
}

func (p *Preview) warn(about ObjectReference, format string, args ...any) {
	p.Warnings = append(p.Warnings, Warning{Object: about, Text: fmt.Sprintf(format, args...)})
}

// The values of pause, besides the index of a deletion: a pause after none of them, or after each.
const never, always = -2, -1

// carry deletes objects. At a pause, all effects of the deletions happen before the next deletion.
func (w *world) carry(keys []graph.Key, options finalizers.Options, pause int) {
	for i, k := range keys {
		if o := w.objects[k]; o != nil {
			w.delete(o, options, User)
		}
		if pause == always || pause == i {
			w.settle()
		}
	}
	w.settle()
}

// mostPauses is the maximum number of positions at which race tries a single pause between deletions.
const mostPauses = 8

// race returns the reason why the outcome may differ from that of w; empty if it finds no other outcome. It tries the
// extreme orders of requests and of the collector's work, and a single pause at each position.
func (w *world) race(keys []graph.Key, options finalizers.Options, objects []*Object) string {
	differs := func(workers int, last bool, pause int) bool {
		other := w.world(objects, workers)
		other.last = last
		other.settle()
		other.carry(keys, options, pause)
		return !w.same(other)
	}
	orders := func(pause int) bool { return differs(1, false, pause) || differs(allWorkers, true, pause) }
	for pause := always; len(keys) > 1 && pause < min(len(keys)-1, mostPauses); pause++ {
		if differs(allWorkers, false, pause) || orders(pause) {
			return "the outcome depends on how fast the deletions follow each other: this is what happens if they" +
				" come at once"
		}
	}
	if orders(never) {
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

// conclude adds the objects that stay, the dangling references and the counts. A key of deletions whose object is still
// terminating is listed even if the object was terminating before.
func (p *Preview) conclude(w *world, deletions []graph.Key) {
	counts := map[string]*Count{}
	count := func(k graph.Key) *Count {
		if counts[k.Collection] == nil {
			counts[k.Collection] = &Count{Resource: k.Collection}
		}
		return counts[k.Collection]
	}
	gone, marked, released := map[string]bool{}, map[graph.Key]bool{}, map[graph.Key]bool{}
	for _, k := range deletions {
		marked[k] = true
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
	for _, o := range sorted(w.objects) {
		if released[o.Key] {
			count(o.Key).Released++
		}
		if marked[o.Key] && !o.Deletion.IsZero() {
			count(o.Key).Left++
			p.Left = append(p.Left, Left{Object: w.ref(o), Finalizers: w.holds(o), UsedBy: w.users(o)})
		}
		for _, owner := range o.Owners {
			if gone[owner.UID] {
				p.Dangling = append(p.Dangling, Dangling{Object: w.ref(o), Owner: owner})
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

// holds returns the finalizers of an object, including those in a namespace's spec.
func (w *world) holds(o *Object) []string {
	held := slices.Clone(o.Finalizers)
	for _, f := range o.SpecFinalizers {
		held = append(held, f+" (in spec)")
	}
	return held
}

func (p *Preview) dangers(w *world, o *Object, options finalizers.Options) {
	warn := func(format string, args ...any) { p.warn(w.ref(o), format, args...) }
	k := w.kind(o)
	if owner := w.controller(o); owner != nil {
		warn("%s %s controls it and may create another one", owner.Kind, owner.Name)
	}
	if k.Namespace {
		for _, s := range w.c.Unavailable { // E-14, J-25
			warn("it stays as long as APIService %s is not available (%s)", s.Name, s.Message)
		}
	}
	verdict := finalizers.Delete(lifecycle(o), k, options, w.c.Now)
	leaves := func(finalizer string) bool {
		return verdict.Step == finalizers.Store && slices.Contains(verdict.Finalizers, finalizer)
	}
	dependents := w.dependents[o.UID]
	switch orphan, foreground := leaves(finalizers.Orphan), leaves(finalizers.Foreground); {
	case k.Namespace && (orphan || foreground):
		warn("the propagation policy has no effect on the namespace's content, which is deleted with Background") // E-10
	case k.Cleanup != "" && options.PropagationPolicy == "Orphan":
		warn("the propagation policy has no effect: all custom resources of the CRD are deleted") // C-84
	case orphan && slices.ContainsFunc(dependents, func(d *Object) bool { return d.Controller == o.UID }):
		warn("a dependent that is created while the collector removes the references is not orphaned in" +
			" Kubernetes, but deleted")
	case foreground && !orphan:
		free := slices.DeleteFunc(slices.Clone(dependents), func(d *Object) bool {
			return slices.ContainsFunc(d.Owners, func(r graph.Owner) bool { return r.UID == o.UID && r.Block })
		})
		if len(free) > 0 {
			warn("%d of its dependents do not set blockOwnerDeletion: it may be removed before they are", len(free))
		}
	}
}

// controller returns the reference to the owner that controls the object; nil if there is none, or if it is being
// deleted.
func (w *world) controller(o *Object) *graph.Owner {
	i := slices.IndexFunc(o.Owners, func(r graph.Owner) bool { return r.UID == o.Controller })
	s, _ := w.g.Standing(o.Key)
	live := func(p *Object) bool { return w.objects[p.Key] != nil && w.deleting[p.Key] == nil }
	if i < 0 || i >= len(s.Verdicts) || s.Verdicts[i] != graph.Solid || !slices.ContainsFunc(w.uids[o.Controller], live) {
		return nil
	}
	return &o.Owners[i]
}

// unknown warns of unknown objects: one warning for each reason and each consequence.
func (p *Preview) unknown(x *Index) {
	if x.resources[namespaces] == nil {
		p.warn(ObjectReference{}, "the server serves no namespaces: it is a part of a cluster, and a garbage collector may"+
			" not watch it; without one, nothing is collected")
	}
	hidden := map[string][]Hidden{}
	consequences := []string{"effects on them are not shown", "effects on others are not shown",
		"webhooks and policies that may deny are not named"}
	for _, name := range slices.Sorted(maps.Keys(x.resources)) {
		r, consequence := x.resources[name], consequences[0]
		switch {
		case r.Unknown == "":
			continue
		case r.Group == unseen:
			consequence = consequences[2]
		case r.Within != "", slices.ContainsFunc(x.c.Objects, func(o *Object) bool { return o.Collection == name }):
			consequence = consequences[1]
		}
		hidden[consequence] = append(hidden[consequence], Hidden{Resource: name, Why: r.Unknown})
	}
	for _, consequence := range consequences {
		for _, h := range Grouped(hidden[consequence]) {
			p.warn(ObjectReference{}, "the objects of %s are not known (%s), so %s", h.Resource, h.Why, consequence)
		}
	}
}
