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

// collections checks the removals of objects that no client deleted, and the changes of owner references.
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

// collected returns the rule that an event violates if the collector has caused it. state is the state before the
// event.
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
		return "", "" // a write of a client
	}
	for _, o := range old.Owners {
		kept := slices.ContainsFunc(e.Object.Owners, func(n Owner) bool { return n.UID == o.UID })
		if !kept && Solid(state, e.Key, o) && !orphaning(state[ownerKey(e.Key, o)]) {
			return RemovedOwner, fmt.Sprintf("%s (%s) at %d, of the owner %s (%s)", e.Key, old.UID, e.Revision, o.Name, o.UID)
		}
	}
	return "", ""
}

// Solid reports whether an owner of the object under key exists and doesn't wait for its dependents (D-35).
func Solid(state map[string]*Object, key string, o Owner) bool {
	at := state[ownerKey(key, o)]
	return at != nil && at.UID == o.UID && !waiting(at)
}

func waiting(o *Object) bool   { return o.Terminating && slices.Contains(o.Finalizers, Foreground) }
func orphaning(o *Object) bool { return o.Terminating && slices.Contains(o.Finalizers, Orphan) }

// ownerKey returns the key of an owner of the object under key.
func ownerKey(key string, o Owner) string {
	return o.Resource + "/" + strings.Split(key, "/")[1] + "/" + o.Name
}

// wishes are the deletions that clients requested.
type wishes struct {
	uids map[string]bool
	// keys are the objects of deletions without a UID and without a response. The values are the revisions that were
	// known when the deletions began.
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

// includes reports whether a client's deletion may have caused the event.
func (w wishes) includes(e *Event, old *Object) bool {
	from, any := w.keys[e.Key]
	return w.uids[old.UID] || any && e.Revision > from
}

// Unfinished returns the collector's remaining work in a state that has no finalizers except the collector's:
// terminating objects, objects whose owners are all gone (D-41), and references to owners that are gone beside solid
// ones (D-39).
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
