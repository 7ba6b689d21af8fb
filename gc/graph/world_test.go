package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// world is a simple store: objects in a map, the API server's rules for deletion (SEMANTICS C.3, C.5, B-20), and the
// resulting timeline. It executes actions.
type world struct {
	revision int64
	objects  map[Key]*thing
	// born has the revisions at which the objects were created.
	born  map[Key]int64
	kinds []Kind
	// timeline has the events that the graph has not received yet.
	timeline []Event
	// dead has the removed objects, the latest one last.
	dead []*thing
	// died has the uids of objects whose removal learn has received.
	died map[string]bool
	// unblocked: the naive rules had to break a cycle.
	unblocked bool
}

// thing is a stored object.
type thing struct {
	Object
	// holds has the finalizers of other components.
	holds []string
}

var defaultKinds = []Kind{
	{"v1", "ConfigMap", "configmaps", true, true},
	{"v1", "Secret", "secrets", true, true},
	{"v1", "Pod", "pods", true, true},
	{"v1", "ReplicationController", "controllers", true, true},
	{"v1", "PersistentVolume", "persistentvolumes", false, true},
	{"apps/v1", "Deployment", "deployments", true, true},
	{"apps/v1", "ReplicaSet", "replicasets", true, true},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false, true},
	{"stable.example.com/v1", "CronTab", "stable.example.com/crontabs", true, true},
	{"stable.example.com/v1beta1", "CronTab", "stable.example.com/crontabs", true, false},
	{"events.k8s.io/v1", "Event", "events", true, true},
}

func newWorld(kinds []Kind) *world {
	return &world{objects: map[Key]*thing{}, born: map[Key]int64{}, died: map[string]bool{}, kinds: slices.Clone(kinds)}
}

// nameOf returns the apiVersion and kind of the collection's objects.
func (w *world) nameOf(collection string) (apiVersion, kind string) {
	for _, k := range w.kinds {
		if k.Collection == collection && k.Preferred {
			return k.APIVersion, k.Kind
		}
	}
	return "gone.io/v1", "Gone"
}

func (w *world) put(t *thing) {
	w.revision++
	t.Revision = w.revision
	t.APIVersion, t.Kind = w.nameOf(t.Collection)
	if was := w.objects[t.Key]; was == nil || was.UID != t.UID {
		w.born[t.Key] = w.revision
	}
	w.objects[t.Key] = t
	w.timeline = append(w.timeline, Observed{Object: t.shown()})
}

// shown returns the object as the timeline shows it; of an object that can't be read, only its key.
func (t *thing) shown() Object {
	if t.Flags.Has(Broken) {
		return Object{Key: t.Key, Revision: t.Revision, Flags: Broken}
	}
	o := t.Object
	o.Owners = slices.Clone(o.Owners)
	return o
}

// learn applies an event that a graph receives.
func (w *world) learn(e Event) {
	switch e := e.(type) {
	case Observed:
		was := w.objects[e.Object.Key]
		if was != nil && e.Object.Flags.Has(Broken) {
			was.Flags |= Broken
			was.Revision = e.Object.Revision
			return
		}
		if was != nil {
			w.died[was.UID] = true
		}
		delete(w.died, e.Object.UID)
		w.objects[e.Object.Key] = &thing{Object: e.Object}
	case Gone:
		if was := w.objects[e.Key]; was != nil {
			w.died[was.UID] = true
		}
		delete(w.objects, e.Key)
	case Kinds:
		w.kinds = e.Table
	}
}

func (w *world) remove(t *thing) {
	w.revision++
	w.dead = append(w.dead, t)
	delete(w.objects, t.Key)
	w.timeline = append(w.timeline, Gone{Key: t.Key})
}

// write stores a changed object, or removes it if it is being deleted and nothing holds it (B-20).
func (w *world) write(t *thing) {
	if t.Flags.Has(Deleting) && len(t.holds) == 0 && t.Flags&(OrphanFinalizer|ForegroundFinalizer) == 0 {
		w.remove(t)
		return
	}
	w.put(t)
}

// delete is a DELETE request with a policy (C-20 to C-22).
func (w *world) delete(t *thing, p Policy) {
	f := t.Flags &^ (OrphanFinalizer | ForegroundFinalizer)
	switch p {
	case ForegroundPolicy:
		f |= ForegroundFinalizer
	case OrphanPolicy:
		f |= OrphanFinalizer
	}
	if len(t.holds) > 0 || f&(OrphanFinalizer|ForegroundFinalizer) != 0 {
		f |= Deleting
	} else {
		w.remove(t)
		return
	}
	if f != t.Flags {
		t.Flags = f
		w.put(t)
	}
}

// at returns the stored object of the reference, or the outcome if there is another one or none.
func (w *world) at(r Ref, exact bool) (*thing, Outcome) {
	t := w.objects[r.Key]
	switch {
	case t == nil || t.UID != r.UID:
		return nil, Missing
	case t.Flags.Has(Broken):
		return nil, Failed
	case exact && t.Revision != r.Revision:
		return nil, Conflict
	}
	return t, Done
}

// carry executes a request.
func (w *world) carry(a Action) (Ticket, Outcome) {
	switch a := a.(type) {
	case Delete:
		t, o := w.at(a.Object, true)
		for _, g := range a.Guards {
			var rev int64
			if at := w.objects[g.Key]; at != nil {
				rev = at.Revision
			}
			holds := rev == g.Revision
			if g.Held {
				holds = w.born[g.Key] <= g.Revision || rev == 0
			}
			if t != nil && !holds {
				return a.Ticket, Conflict
			}
		}
		if t != nil {
			w.delete(t, a.Policy)
		}
		return a.Ticket, o
	case RemoveOwners:
		t, o := w.at(a.Object, a.Exact)
		if t != nil {
			before := len(t.Owners)
			t.Owners = slices.DeleteFunc(t.Owners, func(o Owner) bool { return slices.Contains(a.Owners, o.UID) })
			if len(t.Owners) != before {
				w.write(t)
			}
		}
		return a.Ticket, o
	case Unblock:
		t, o := w.at(a.Object, false)
		if t != nil && t.unblock(a.Owners) {
			w.write(t)
		}
		return a.Ticket, o
	case RemoveFinalizer:
		t, o := w.at(a.Object, true)
		if t != nil {
			t.Flags &^= [...]Flags{OrphanFinalizer, ForegroundFinalizer}[a.Finalizer]
			w.write(t)
		}
		return a.Ticket, o
	}
	panic(fmt.Sprintf("not a request: %v", a))
}

func (t *thing) unblock(uids []string) bool {
	changed := false
	t.Owners = slices.Clone(t.Owners)
	for i := range t.Owners {
		if o := &t.Owners[i]; o.Block && slices.Contains(uids, o.UID) {
			o.Block, changed = false, true
		}
	}
	return changed
}

// isRequest reports whether the action is answered.
func isRequest(a Action) bool {
	switch a.(type) {
	case Delete, RemoveOwners, Unblock, RemoveFinalizer:
		return true
	}
	return false
}

// String prints the store.
func (w *world) String() string {
	var b strings.Builder
	for _, k := range slices.SortedFunc(maps.Keys(w.objects), Key.Compare) {
		t := w.objects[k]
		fmt.Fprintf(&b, "%s uid=%s", k, t.UID)
		if t.Flags != 0 {
			fmt.Fprintf(&b, " %s", t.Flags)
		}
		if len(t.holds) > 0 {
			fmt.Fprintf(&b, " hold=%s", strings.Join(t.holds, ","))
		}
		for _, o := range t.Owners {
			fmt.Fprintf(&b, " %s", printOwner(o))
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func printOwner(o Owner) string {
	s := fmt.Sprintf("<%s:%s:%s:%s", o.APIVersion, o.Kind, o.Name, o.UID)
	if o.Block {
		s += "!"
	}
	return s
}
