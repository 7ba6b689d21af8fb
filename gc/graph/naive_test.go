package graph

import (
	"fmt"
	"slices"
	"strings"
)

// naive returns the action for an object of the world, directly by the rules of SEMANTICS D.3 and D.5. It reads the
// whole store each time, and shares no code with the graph.
func (w *world) naive(t *thing) string {
	if w.inert(t.Collection) || !w.serves(t.Collection) || t.Flags.Has(Broken) {
		return ""
	}
	for _, o := range t.Owners {
		for _, x := range w.allByUID(o.UID) {
			if x.Flags.Has(Deleting | OrphanFinalizer) {
				return "let go of " + o.UID
			}
		}
	}
	if t.Flags.Has(Deleting) {
		return w.naiveDeleting(t)
	}
	solid, waiting, dangling := 0, 0, 0
	for _, o := range t.Owners {
		switch w.naiveOwner(t, o) {
		case "solid":
			solid++
		case "waiting":
			waiting++
		case "dangling":
			dangling++
		default:
			return ""
		}
	}
	switch {
	case len(t.Owners) == 0:
		return ""
	case solid > 0:
		if waiting+dangling > 0 {
			return "patch"
		}
		return ""
	case waiting > 0 && len(w.dependents(t)) > 0:
		return "delete Foreground"
	case t.Flags.Has(OrphanFinalizer):
		return "delete Orphan"
	case t.Flags.Has(ForegroundFinalizer):
		return "delete Foreground"
	}
	return "delete Background"
}

func (w *world) naiveDeleting(t *thing) string {
	switch {
	case t.Flags.Has(OrphanFinalizer):
		if len(w.dependents(t)) == 0 {
			return "release orphan"
		}
	case t.Flags.Has(ForegroundFinalizer):
		blocked := false
		for _, d := range w.dependents(t) {
			blocked = blocked || blocks(d, t.UID)
		}
		if !blocked {
			return "release foreground"
		}
		if w.naiveCycle(t, t, map[Key]bool{}) {
			return "unblock"
		}
	}
	return ""
}

// naiveOwner looks up a reference as a GET would (D-36).
func (w *world) naiveOwner(t *thing, o Owner) string {
	for _, k := range w.kinds {
		if k.APIVersion != o.APIVersion || k.Kind != o.Kind {
			continue
		}
		key := Key{k.Collection, "", o.Name}
		if k.Namespaced {
			if key.Namespace = t.Namespace; key.Namespace == "" {
				return "out of reach"
			}
		}
		x := w.objects[key]
		switch {
		case x == nil:
			return "dangling"
		case x.UID != "" && x.UID != o.UID: // known from before it became unreadable, perhaps
			return "dangling"
		case x.Flags.Has(Broken):
			return "unknown"
		case x.Flags.Has(Deleting|ForegroundFinalizer) && !x.Flags.Has(OrphanFinalizer):
			return "waiting"
		}
		return "solid"
	}
	return "unknown kind"
}

// blocks reports whether a reference of d to the uid has blockOwnerDeletion (D-43, J-16).
func blocks(d *thing, uid string) bool {
	return slices.ContainsFunc(d.Owners, func(o Owner) bool { return o.UID == uid && o.Block })
}

// naiveCycle reports whether blocking references among waiting objects lead from t up to target.
func (w *world) naiveCycle(t, target *thing, seen map[Key]bool) bool {
	if w.inert(t.Collection) {
		return false
	}
	for _, o := range t.Owners {
		for _, x := range w.allByUID(o.UID) {
			if !blocks(t, o.UID) || !x.Flags.Has(Deleting|ForegroundFinalizer) {
				continue
			}
			if x == target {
				return true
			}
			if !seen[x.Key] {
				seen[x.Key] = true
				if w.naiveCycle(x, target, seen) {
					return true
				}
			}
		}
	}
	return false
}

func (w *world) dependents(t *thing) []*thing {
	var all []*thing
	for _, d := range w.objects {
		if w.inert(d.Collection) {
			continue
		}
		for _, o := range d.Owners {
			if o.UID == t.UID {
				all = append(all, d)
				break
			}
		}
	}
	return all
}

// allByUID returns the objects with a uid: several if clients share uids.
func (w *world) allByUID(uid string) (all []*thing) {
	for _, t := range w.objects {
		if t.UID == uid {
			all = append(all, t)
		}
	}
	return all
}

func (w *world) byUID(uid string) *thing {
	for _, t := range w.objects {
		if t.UID == uid {
			return t
		}
	}
	return nil
}

func (w *world) inert(collection string) bool { return collection == "events" }

func (w *world) serves(collection string) bool {
	for _, k := range w.kinds {
		if k.Collection == collection {
			return true
		}
	}
	return false
}

// settle applies the naive rules until none applies: the oracle. Owners are released last, so that the deletions of all
// their dependents were requested (D-S30).
func (w *world) settle(order []Key) error {
	for range 10_000 {
		if !w.sweep(order, false) && !w.sweep(order, true) {
			return nil
		}
	}
	return fmt.Errorf("the rules don't come to an end in\n%s", w)
}

// sweep applies the rules that release owners, once, or else all other rules.
func (w *world) sweep(order []Key, release bool) bool {
	done := false
	for _, k := range order {
		t := w.objects[k]
		if t == nil {
			continue
		}
		what := w.naive(t)
		if what == "" || strings.HasPrefix(what, "release") != release {
			continue
		}
		w.obey(t, what)
		if done = true; release {
			return true
		}
	}
	return done
}

func (w *world) obey(t *thing, what string) {
	switch what {
	case "patch":
		kept := t.Owners[:0:0]
		for _, o := range t.Owners {
			if w.naiveOwner(t, o) == "solid" {
				kept = append(kept, o)
			}
		}
		t.Owners = kept
	case "delete Background":
		w.delete(t, Background)
		return
	case "delete Foreground":
		w.delete(t, ForegroundPolicy)
		return
	case "delete Orphan":
		w.delete(t, OrphanPolicy)
		return
	case "release orphan":
		t.Flags &^= OrphanFinalizer
	case "release foreground":
		t.Flags &^= ForegroundFinalizer
	case "unblock":
		w.unblocked = true
		for i := range t.Owners {
			t.Owners[i].Block = false
		}
	default:
		var uid string
		fmt.Sscanf(what, "let go of %s", &uid)
		kept := t.Owners[:0:0]
		for _, o := range t.Owners {
			if o.UID != uid {
				kept = append(kept, o)
			}
		}
		t.Owners = kept
	}
	w.write(t)
}
