package explain

import (
	"maps"
	"math"
	"slices"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// world simulates a cluster. Package finalizers decides the effects of requests, and gc/graph the requests of the
// collector. The other components are methods of world: nothing happens without a call.
type world struct {
	*Index
	resources map[string]*Resource // those of the index that are still defined
	objects   map[graph.Key]*Object
	deleting  map[graph.Key]*Object // those of the objects that are being deleted
	revisions map[graph.Key]int64
	revision  int64
	g         *graph.Graph
	actions   []graph.Action // of the collector, which were not executed
	changes   []Change
	asked     map[Request]bool // the requests that passed admission
	last      bool             // the collector executes its newest request first
}

// allWorkers lets the collector send all its requests at once.
const allWorkers = math.MaxInt32

// world returns a world of some of the cluster's objects, in which the collector has just started. workers is the
// maximum number of its concurrent requests.
func (x *Index) world(objects []*Object, workers int) *world {
	w := &world{
		Index: x, resources: maps.Clone(x.resources), objects: make(map[graph.Key]*Object, len(objects)),
		revisions: make(map[graph.Key]int64, len(objects)), deleting: map[graph.Key]*Object{}, asked: map[Request]bool{},
	}
	var inert []string
	for name, r := range w.resources {
		if r.Inert {
			inert = append(inert, name)
		}
	}
	w.g = graph.New(graph.Config{Limit: workers, Inert: inert})
	w.tell(graph.Kinds{Table: table(w.resources)})
	for _, o := range objects {
		w.put(o)
	}
	w.conceal(objects)
	w.tell(graph.Loaded{})
	return w
}

// conceal keeps references undecided if their owners may exist in a namespace whose objects are not known. At the key
// of each such owner, it shows the collector an object that can't be decoded.
func (w *world) conceal(objects []*Object) {
	partial := map[[2]string]*Resource{}
	for _, k := range table(w.resources) {
		if r := w.resources[k.Collection]; r.Within != "" {
			partial[[2]string{k.APIVersion, k.Kind}] = r
		}
	}
	for _, o := range objects {
		for _, owner := range o.Owners {
			r := partial[[2]string{owner.APIVersion, owner.Kind}]
			if r != nil && o.Namespace != "" && r.Hides(o.Namespace) {
				k := graph.Key{Collection: r.Name(), Namespace: o.Namespace, Name: owner.Name}
				w.tell(graph.Observed{Object: graph.Object{Key: k, Flags: graph.Broken}})
			}
		}
	}
}

func (w *world) ref(o *Object) ObjectReference { return w.resources[o.Collection].reference(o) }

// tell passes an event to the graph and collects its actions.
func (w *world) tell(e graph.Event) { w.actions = append(w.actions, w.g.Step(e)...) }

// settle lets all components work until nothing is left to do.
func (w *world) settle() { w.work(w.collect, w.clean, w.confirm, w.expect) }

// work repeats the steps until none changes anything. A step is only taken when those before it have nothing to do.
func (w *world) work(steps ...func()) {
	for i := 0; i < len(steps) && w.wanted(); i++ {
		before := w.revision
		if steps[i](); w.revision > before {
			i = -1
		}
	}
}

func (w *world) wanted() bool { return w.c.Stop == nil || !w.c.Stop() }

// collect lets the collector work until it has nothing to do.
func (w *world) collect() {
	for len(w.actions) > 0 && w.wanted() {
		a, end := w.actions[0], len(w.actions)-1
		if w.last {
			a, w.actions = w.actions[end], w.actions[:end]
		} else {
			w.actions = w.actions[1:]
		}
		w.execute(a)
	}
}

// execute executes a request of the collector, in the state in which it was decided, apart from the effects of earlier
// requests. Other actions have no effect.
func (w *world) execute(a graph.Action) {
	switch a := a.(type) {
	case graph.Delete:
		w.on(a.Object, a.Ticket, true, a.Guards, func(o *Object) {
			w.delete(o, finalizers.Options{PropagationPolicy: a.Policy.String()}, Collector)
		})
	case graph.RemoveOwners:
		w.on(a.Object, a.Ticket, a.Exact, nil, func(o *Object) { w.release(o, a.Owners, Collector) })
	case graph.Unblock:
		w.on(a.Object, a.Ticket, false, nil, func(o *Object) { w.unblock(o, a.Owners, Collector) })
	case graph.RemoveFinalizer:
		w.on(a.Object, a.Ticket, true, nil, func(o *Object) { w.removeFinalizer(o, a.Finalizer.String(), Collector) })
	}
}

// on calls do with the object of a request, if the object and the guards have not changed since the decision. The graph
// gets the result before the events that follow from it.
func (w *world) on(r graph.Ref, t graph.Ticket, exact bool, guards []graph.Guard, do func(*Object)) {
	o, outcome := w.objects[r.Key], graph.Done
	switch {
	case o == nil || o.UID != r.UID:
		outcome = graph.Missing
	case exact && w.revisions[r.Key] != r.Revision || slices.ContainsFunc(guards, w.broken):
		outcome = graph.Conflict
	}
	w.tell(graph.Result{Ticket: t, Outcome: outcome})
	if outcome == graph.Done {
		do(o)
	}
}

// broken reports whether the object at a key has changed since the decision. No object is created in a world, so a key
// never gets another object.
func (w *world) broken(g graph.Guard) bool { return !g.Held && w.revisions[g.Key] != g.Revision }

func (w *world) delete(o *Object, options finalizers.Options, by string) {
	if by != CRDController { // it removes them without admission
		w.ask(o.Key, deleteOperation, "")
	}
	verdict := finalizers.Delete(lifecycle(o), w.kind(o), options, w.c.Now)
	switch verdict.Step {
	case finalizers.Store:
		next := *o
		next.Finalizers, next.Deletion = verdict.Finalizers, verdict.Deletion
		next.GraceSeconds = verdict.GracePeriodSeconds
		w.put(&next)
		what := Refinalized
		if verdict.MarkTerminating {
			what = Marked
		}
		w.changes = append(w.changes, Change{What: what, Object: w.ref(o), By: by, Finalizers: w.holds(&next)})
	case finalizers.Remove, finalizers.StoreThenRemove:
		w.remove(o, by)
	}
}

// lifecycle has the fields that decisions on writes depend on.
func lifecycle(o *Object) finalizers.Object {
	return finalizers.Object{
		UID: o.UID, Finalizers: o.Finalizers, SpecFinalizers: o.SpecFinalizers, Deletion: o.Deletion,
		GracePeriodSeconds: o.GraceSeconds,
	}
}

// kind returns the properties on which a DELETE of the object depends. A pod of which only the metadata is known may be
// on a node.
func (w *world) kind(o *Object) finalizers.Kind {
	r := w.resources[o.Collection]
	if r == nil {
		return finalizers.Kind{}
	}
	k := r.Delete
	if k.Graceful && o.Pod != nil {
		k.DefaultGraceSeconds = o.Pod.GraceSeconds
		k.GraceForbidden = o.Pod.Node == "" || o.Pod.Finished
	}
	return k
}

// edit updates the object, and records the Change, unless the object stays the same.
func (w *world) edit(o, next *Object, c Change) {
	if slices.Equal(next.Owners, o.Owners) && slices.Equal(next.Finalizers, o.Finalizers) {
		return
	}
	c.Object = w.ref(o)
	w.changes = append(w.changes, c)
	w.update(o, next, "", c.By)
}

func (w *world) release(o *Object, uids []string, by string) {
	named := func(r graph.Owner) bool { return slices.Contains(uids, r.UID) }
	next := *o
	next.Owners = slices.DeleteFunc(slices.Clone(o.Owners), named)
	w.edit(o, &next, Change{What: Released, By: by, Owners: o.references(uids)})
}

// unblock sets blockOwnerDeletion to false in the references with these uids.
func (w *world) unblock(o *Object, uids []string, by string) {
	next := *o
	next.Owners = slices.Clone(o.Owners)
	for i := range next.Owners {
		r := &next.Owners[i]
		r.Block = r.Block && !slices.Contains(uids, r.UID)
	}
	w.edit(o, &next, Change{What: Unblocked, By: by, Owners: o.references(uids)})
}

func (o *Object) references(uids []string) []graph.Owner {
	return slices.DeleteFunc(slices.Clone(o.Owners), func(r graph.Owner) bool { return !slices.Contains(uids, r.UID) })
}

func (w *world) removeFinalizer(o *Object, name, by string) {
	next := *o
	next.Finalizers = without(o.Finalizers, name)
	w.edit(o, &next, Change{What: Freed, By: by, Finalizers: []string{name}})
}

// finalize removes a finalizer of a namespace's spec.finalizers.
func (w *world) finalize(o *Object, name, by string) {
	next := *o
	next.SpecFinalizers = without(o.SpecFinalizers, name)
	w.update(o, &next, "finalize", by)
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(f string) bool { return f == name })
}

// update is an UPDATE or a PATCH of the object or of a subresource. The object is removed if it is being deleted and
// nothing holds it any more.
func (w *world) update(stored, updated *Object, sub, by string) {
	if by != CRDController { // it writes the status
		w.ask(stored.Key, updateOperation, sub)
	}
	if finalizers.Update(lifecycle(stored), lifecycle(updated)) == finalizers.Remove {
		w.remove(stored, by)
		return
	}
	w.put(updated)
}

func (w *world) put(o *Object) {
	w.revision++
	if w.objects[o.Key], w.revisions[o.Key] = o, w.revision; !o.Deletion.IsZero() {
		w.deleting[o.Key] = o
	}
	ref := w.ref(o)
	w.tell(graph.Observed{Object: graph.Object{
		Key: o.Key, APIVersion: ref.APIVersion, Kind: ref.Kind, UID: o.UID, Revision: w.revision,
		Owners: o.Owners, Flags: graph.FlagsOf(!o.Deletion.IsZero(), o.Finalizers),
	}})
}

func (w *world) remove(o *Object, by string) {
	w.revision++
	delete(w.objects, o.Key)
	delete(w.revisions, o.Key)
	delete(w.deleting, o.Key)
	w.tell(graph.Gone{Key: o.Key})
	w.changes = append(w.changes, Change{What: Deleted, Object: w.ref(o), By: by})
	if w.kind(o).Cleanup != "" {
		delete(w.resources, o.Name)
		w.tell(graph.Kinds{Table: table(w.resources)})
	}
}

// sorted returns the objects of a map by key.
func sorted(objects map[graph.Key]*Object) []*Object {
	return slices.SortedFunc(maps.Values(objects), byKey)
}
