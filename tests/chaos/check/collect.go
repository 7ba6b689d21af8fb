package check

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// The finalizers of the garbage collector.
const (
	Orphan     = "orphan"
	Foreground = "foregroundDeletion"
)

// collections checks what happened to objects that no client asked to delete, and to their references.
func collections(h *History, t *timeline, f *frontier) []Violation {
	asked := deletions(h, f)
	state := map[string]*Object{}
	var out []Violation
	for i := range h.Events {
		e := &h.Events[i]
		old := state[e.Key]
		if rule, what := collected(state, e, old); rule != "" && !(rule != RemovedOwner && asked.includes(e, old)) {
			shown := t.around(e.Key, e.Revision)
			for _, o := range old.Owners {
				shown = append(shown, t.around(ownerKey(e.Key, o), e.Revision)...)
			}
			out = append(out, Violation{rule, what, shown})
		}
		if e.Object == nil {
			delete(state, e.Key)
		} else {
			state[e.Key] = e.Object
		}
	}
	return out
}

// collected says which rule an event violates if the collector has caused it; state is that before.
func collected(state map[string]*Object, e *Event, old *Object) (Rule, string) {
	if old == nil || old.Terminating {
		return "", ""
	}
	if e.Object == nil || e.Object.Terminating {
		if len(old.Owners) == 0 {
			return CollectedFree, fmt.Sprintf("%s (%s) at %d", e.Key, old.UID, e.Revision)
		}
		for _, o := range old.Owners {
			if Solid(state, e.Key, o) {
				return CollectedOwned, fmt.Sprintf("%s (%s) at %d, owned by %s (%s)", e.Key, old.UID, e.Revision, o.Name, o.UID)
			}
		}
		return "", ""
	}
	if e.Object.Token != old.Token {
		return "", "" // a client's write
	}
	for _, o := range old.Owners {
		kept := slices.ContainsFunc(e.Object.Owners, func(n Owner) bool { return n.UID == o.UID })
		if !kept && Solid(state, e.Key, o) && !orphaning(state[ownerKey(e.Key, o)]) {
			return RemovedOwner, fmt.Sprintf("%s (%s) at %d, of the owner %s (%s)", e.Key, old.UID, e.Revision, o.Name, o.UID)
		}
	}
	return "", ""
}

// Solid reports whether an owner of the object under a key exists and doesn't wait for its dependents (D-35).
func Solid(state map[string]*Object, key string, o Owner) bool {
	at := state[ownerKey(key, o)]
	return at != nil && at.UID == o.UID && !waiting(at)
}

func waiting(o *Object) bool   { return o.Terminating && slices.Contains(o.Finalizers, Foreground) }
func orphaning(o *Object) bool { return o.Terminating && slices.Contains(o.Finalizers, Orphan) }

// ownerKey is where an owner of the object under key is.
func ownerKey(key string, o Owner) string {
	return o.Resource + "/" + strings.Split(key, "/")[1] + "/" + o.Name
}

// wishes are what clients asked to delete.
type wishes struct {
	uids map[string]bool
	// keys are of deletions that named no UID and were not answered, with the revision known when they began.
	keys map[string]int64
}

func deletions(h *History, f *frontier) wishes {
	w := wishes{map[string]bool{}, map[string]int64{}}
	for _, d := range h.Writes {
		switch {
		case d.Verb != Delete || d.Outcome == Rejected:
		case d.UID != "":
			w.uids[d.UID] = true
		default:
			from := before(f.seen, d.Begin).revision
			if old, there := w.keys[d.Key]; !there || from < old {
				w.keys[d.Key] = from
			}
		}
	}
	return w
}

// includes reports whether a client may have caused the event, by a deletion.
func (w wishes) includes(e *Event, old *Object) bool {
	from, any := w.keys[e.Key]
	return w.uids[old.UID] || any && e.Revision > from
}

// Unfinished returns what the collector still has to do in a state without finalizers but its own: objects that are
// terminating, those whose owners are all gone (D-41), and references to owners that are gone beside solid ones (D-39).
func Unfinished(state map[string]*Object) []Violation {
	var out []Violation
	for key, o := range state {
		var gone []Owner
		for _, r := range o.Owners {
			if !Solid(state, key, r) {
				gone = append(gone, r)
			}
		}
		if o.Terminating || len(gone) > 0 {
			what := fmt.Sprintf("%s (%s), terminating %t, has owners that are gone: %v", key, o.UID, o.Terminating, gone)
			out = append(out, Violation{NotCollected, what, nil})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].What < out[j].What })
	return out
}
